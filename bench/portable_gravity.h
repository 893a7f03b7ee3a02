/* Gravity as a loop over pairs in portable C: what a program has that nobody has tuned. */
#pragma once
#ifdef __cplusplus
extern "C" {
#endif

/* Four numbers of each body: place and mass. Three of each sum. */
void nbcc_bench_portable_gravity(long n, const float (*bodies)[4], float eps2, float (*acc)[3]);

#ifdef __cplusplus
}
#endif
