#define BINET_PLAIN plain_native
#include "kernels/elementwise/plain_loops.cc"
