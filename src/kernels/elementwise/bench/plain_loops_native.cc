#define BINET_PLAIN plain_native
#include "kernels/elementwise/bench/plain_loops.cc"
