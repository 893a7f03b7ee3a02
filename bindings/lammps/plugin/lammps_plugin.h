// The binary interface by which LAMMPS's command `plugin load` loads styles from a shared library, as far as pair
// styles need it. Declared here because LAMMPS does not install its own header. Valid since LAMMPS 9Oct2020.
#pragma once

extern "C" {

// The plugin fills this in for each of its styles; LAMMPS copies it.
struct lammpsplugin_t {
  const char* version;  // of the LAMMPS for which the plugin was compiled, such as "22 Jul 2025"
  const char* style;    // kind of style: "pair"
  const char* name;     // name of the style in input files
  const char* info;     // description, for people
  const char* author;
  union {
    void* (*v1)(void* lammps);  // constructs a pair style
    void* (*v2)(void* lammps, int count, char** words);
  } creator;
  void* handle;  // of the library, as passed to lammpsplugin_init
};

using lammpsplugin_regfunc = void (*)(lammpsplugin_t* style, void* lammps);

// The entry point that LAMMPS calls after it has loaded the library. `registers` is a lammpsplugin_regfunc.
__attribute__((visibility("default"))) void lammpsplugin_init(void* lammps, void* handle, void* registers);
}
