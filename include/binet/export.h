// Marks what the shared library shows to its users; everything else stays hidden.
#pragma once

#define BINET_EXPORT __attribute__((visibility("default")))
