// pdpd broadcasting: the examples of OpenVINO's page, and what the rule excludes.
#include <gtest/gtest.h>

#include "binet/error.h"
#include "operators/broadcast_rules.h"

namespace binet {
namespace {

constexpr Extent kOpen = kUnknownExtent;
using Dims = std::vector<Extent>;

TEST(Pdpd, PlacesBAtTheAxis) {
  struct Case {
    Dims a, b;
    std::int64_t axis;
    Shape aligned_b;
  };
  const Case cases[] = {
      {{2, 3, 4, 5}, {3, 4}, 1, {1, 3, 4, 1}},
      {{2, 3, 4, 5}, {3, 1}, 1, {1, 3, 1, 1}},
      {{2, 3, 4, 5}, {4, 5}, -1, {1, 1, 4, 5}},
      {{2, 3, 4, 5}, {4, 5}, 2, {1, 1, 4, 5}},
      {{2, 3, 4, 5}, {1, 3}, 0, {1, 3, 1, 1}},
      {{2, 3, 4, 5}, {}, -1, {1, 1, 1, 1}},
      {{2, 3, 4, 5}, {5}, -1, {1, 1, 1, 5}},
      {{2, 3, 4, 5}, {5}, 3, {1, 1, 1, 5}},
      {{2, 3, 4}, {2, 1, 4}, 0, {2, 1, 4}},
      {{3, 3}, {3}, 0, {3, 1}},
      {{0, 3}, {3}, -1, {1, 3}},
      {{2, 3}, {3, 1}, 1, {1, 3}},  // the last 1 reaches past A
      {{2, 3, 4}, {1}, -1, {1, 1, 1}},
      {{}, {}, -1, {}},
  };
  for (const Case& c : cases) {
    const std::string what = to_string(PartialShape(c.a)) + " " + to_string(PartialShape(c.b));
    EXPECT_EQ(broadcast_pdpd(c.a, c.b, c.axis), PartialShape(c.a)) << what;
    const AlignedShapes aligned = align_pdpd(c.a, c.b, c.axis);
    EXPECT_EQ(aligned.a, c.a) << what;
    EXPECT_EQ(aligned.b, c.aligned_b) << what;
  }
}

TEST(Pdpd, RefusesWhatIsNoPartOfA) {
  struct Case {
    Dims a, b;
    std::int64_t axis;
  };
  const Case cases[] = {
      {{8, 1, 6, 1}, {7, 1, 5}, 1}, {{2, 3, 4}, {2, 3}, -1}, {{2, 3, 4}, {3}, 0},    {{3}, {2, 3}, -1},
      {{2, 3, 4}, {4}, 3},          {{2, 3, 4}, {4}, -2},    {{2, 3, 4}, {3, 4}, 2}, {{2, 3}, {}, 9},
      {{2, 3}, {1}, INT64_MAX},     {{1, 3}, {2, 3}, 0},     {{2, 3}, {0}, -1}};
  for (const Case& c : cases) {
    EXPECT_THROW(static_cast<void>(broadcast_pdpd(c.a, c.b, c.axis)), Error)
        << to_string(PartialShape(c.a)) << " " << to_string(PartialShape(c.b)) << " at " << c.axis;
  }
}

TEST(Pdpd, LearnsOpenExtentsFromB) {
  EXPECT_EQ(broadcast_pdpd(Dims{kOpen, 3}, Dims{5, 3}, 0), PartialShape(Dims{5, 3}));
  EXPECT_EQ(broadcast_pdpd(Dims{kOpen, 3}, Dims{1, 3}, 0), PartialShape(Dims{kOpen, 3}));
  EXPECT_EQ(broadcast_pdpd(Dims{2, 3}, Dims{3, kOpen}, 1), PartialShape(Dims{2, 3}));
  EXPECT_EQ(broadcast_pdpd(std::nullopt, Dims{3}, -1), std::nullopt);
}

}  // namespace
}  // namespace binet
