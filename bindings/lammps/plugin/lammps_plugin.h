// The binary interface by which LAMMPS's command `plugin load` takes up styles from a shared library. Its own header is
// not among those that are installed; what stands here is the part that pair styles need, since version 9Oct2020.
#pragma once

extern "C" {

// Filled in by the plugin for each style that it brings, and copied by LAMMPS.
struct lammpsplugin_t {
  const char* version;  // of the LAMMPS that the plugin was compiled for, as "22 Jul 2025"
  const char* style;    // what is brought: "pair"
  const char* name;     // how input files call it
  const char* info;     // for people
  const char* author;
  union {
    void* (*v1)(void* lammps);  // of pair styles: makes one
    void* (*v2)(void* lammps, int count, char** words);
  } creator;
  void* handle;  // of the library, as it was handed to lammpsplugin_init
};

using lammpsplugin_regfunc = void (*)(lammpsplugin_t* style, void* lammps);

// What LAMMPS looks for in the library and calls when it has loaded it. `registers` is a lammpsplugin_regfunc.
__attribute__((visibility("default"))) void lammpsplugin_init(void* lammps, void* handle, void* registers);
}
