// What is proved of guards, spelling by spelling; what must not be; and that no pair beyond the reach contributes.
#include "compiler/passes/prove/neighbourhood.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <random>

#include "compiler/source/parse.h"
#include "tests/support/expect_neighbours.h"
#include "tests/support/folders.h"

namespace nbcc {
namespace {

const std::string kFields = R"(
input_i vec3 xi; input_i vec3 vi; input_i real hi; input_i real a[4]; input_i int gi;
input_j vec3 xj; input_j vec3 vj; input_j real hj; input_j real b[4]; input_j int gj; input_j real mj;
param real rc = 1; param real rc2 = 1; param real skin = 0.1; param real dt = 0.1; param int n = 1;
param vec3 box = vec3(3, 3, 3); param real side = 3;
param real cut[3][3] = {1, 2, 1.5, 2, -1, 0.5, 1.5, 0.5, 3}; param real per[4] = {0.5, 1, 2, 1.5};
param vec3 la = vec3(3, 0, 0); param vec3 lb = vec3(1, 3, 0); param vec3 lc = vec3(1, -1, 3);
output(sum) real o;
)";
const std::string kDistance = "vec3 dx = xj - xi; real r2 = dot(dx, dx); real r = sqrt(r2);\n";

Pipeline parsed(const std::string& text) {
  const bool own_fields = text.find("input_j") != std::string::npos || text.find("INPUT") != std::string::npos;
  return parse({"p.pipe", own_fields ? text : kFields + kDistance + text});
}

constexpr unsigned kRandomGuards = 300;

// The neighbourhood's line, or "not: " and the reason, or "none".
std::string told(const std::string& text) {
  const Pipeline pipeline = parsed(text);
  const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
  if (proof.neighbourhood) return neighbourhood_text(pipeline, *proof.neighbourhood);
  return proof.obstacle ? "not: " + proof.obstacle->reason : "none";
}

struct NeighbourhoodCase {
  const char* text;
  const char* told;
};

constexpr NeighbourhoodCase kProved[] = {
    // one length for all pairs
    {"skip_if(r2 >= rc * rc); o += mj;", "|xj - xi| < rc"},
    {"skip_if(r2 > rc * rc); o += mj;", "|xj - xi| <= rc"},
    {"skip_if(rc * rc <= r2); o += mj;", "|xj - xi| < rc"},
    {"skip_if(!(r2 < rc * rc)); o += mj;", "|xj - xi| < rc"},
    {"if (r2 < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (r2 <= rc * rc) { o += mj; o += r2; }", "|xj - xi| <= rc"},
    {"if (rc * rc > r2) o += mj;", "|xj - xi| < rc"},
    {"if (r2 >= rc * rc) { } else { o += mj; }", "|xj - xi| < rc"},
    {"if (r2 < rc2) o += mj;", "|xj - xi| < sqrt(max(rc2, 0))"},
    {"if (r2 < 6.25) o += mj;", "|xj - xi| < 2.5"},
    {"if (r2 / (rc * rc) < 1) o += mj;", "|xj - xi| < rc"},
    {"if (r2 < pow(rc, 2)) o += mj;", "|xj - xi| < rc"},
    {"if (r < rc) o += mj;", "|xj - xi| < rc"},
    {"if (rc > r) o += mj;", "|xj - xi| < rc"},
    {"if (length(xi - xj) < rc) o += mj;", "|xj - xi| < rc"},
    {"if (pow(r2, 0.5) < rc) o += mj;", "|xj - xi| < rc"},
    {"if (r2 * rsqrt(r2) < rc) o += mj;", "|xj - xi| < rc"},
    {"if (r * r * r < 8) o += mj;", "|xj - xi| < 2"},
    {"if (r2 * r2 < 16) o += mj;", "|xj - xi| < 2"},
    {"if (dx.z * dx.z + dx.x * dx.x + dx.y * dx.y < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (fma(dx.x, dx.x, fma(dx.y, dx.y, dx.z * dx.z)) < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (pow(dx.x, 2) + pow(dx.y, 2) + pow(dx.z, 2) < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (r2 - rc * rc < 0) o += mj;", "|xj - xi| < rc"},
    {"if (0 < rc - r) o += mj;", "|xj - xi| < rc"},
    {"if (-r2 > -rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (r2 + 0.01 < 1) o += mj;", "|xj - xi| < 0.994987"},
    {"if (sqrt(r2 + skin * skin) < 2) o += mj;", "|xj - xi| < sqrt(max(4 - skin * skin, 0))"},
    {"if (r2 + dot(vj, vj) * dot(vi, vi) < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (max(r2, 0.0001) < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (0.25 * r2 < rc * rc) o += mj;", "|xj - xi| < 2 * rc"},
    {"if (1 / r2 > 1 / (rc * rc)) o += mj;", "|xj - xi| < rc"},
    {"if (rsqrt(r2) > 0.5) o += mj;", "|xj - xi| < 2"},
    {"skip_if(1 / r <= 1 / abs(rc)); o += mj;", "|xj - xi| < rc"},
    {"real s = r2 > 0 ? sqrt(r2) : 0; if (s < rc) o += mj;", "|xj - xi| < rc"},
    {"real si = r2 > 0 ? rsqrt(r2) : 0; if (r2 * si < rc) o += mj;", "|xj - xi| < rc"},
    {"if (r < real(n)) o += mj;", "|xj - xi| < n"},
    {"if (double(r2) < double(rc * rc)) o += mj;", "|xj - xi| < rc"},
    // reaches of particles
    {"skip_if(r2 >= 4 * hi * hi); o += mj;", "|xj - xi| < 2 * hi"},
    {"if (r < 2 * hi) o += mj;", "|xj - xi| < 2 * hi"},
    {"if (r2 < hj * hj) o += mj;", "|xj - xi| < hj"},
    {"if (r2 / (hi * hi) < 4) o += mj;", "|xj - xi| < 2 * hi"},
    {"real q = r / hi; if (q * q < 4) o += mj;", "|xj - xi| < 2 * hi"},
    {"real q = r / abs(hi); if (q < 2) o += mj;", "|xj - xi| < 2 * hi"},
    {"real q = r / max(hi, 0.001); if (q < 2) o += mj;", "|xj - xi| < 2 * max(hi, 0.001)"},
    {"real q = r / hi; if (abs(q) < 2) o += mj;", "|xj - xi| < 2 * hi"},
    {"skip_if(hi <= 0 || r / hi >= 2); o += mj;", "|xj - xi| < 2 * hi"},
    {"if (hi > 0 && 2 - r / hi > 0) o += mj;", "|xj - xi| < 2 * hi"},
    {"if (r < max(hi, hj)) o += mj;", "|xj - xi| < max(hi, hj)"},
    {"if (r2 < max(hi * hi, hj * hj)) o += mj;", "|xj - xi| < max(hi, hj)"},
    {"real h = max(hi, hj); skip_if(r2 >= 4 * h * h); o += mj;", "|xj - xi| < max(2 * hi, 2 * hj)"},
    {"if (r < (hi > hj ? hi : hj)) o += mj;", "|xj - xi| < max(hi, hj)"},
    {"if (r2 < hi * hi || r2 < hj * hj) o += mj;", "|xj - xi| < max(hi, hj)"},
    {"skip_if(r2 >= hi * hi && r2 >= hj * hj); o += mj;", "|xj - xi| < max(hi, hj)"},
    {"if (r < min(hi, hj)) o += mj;", "|xj - xi| < min(hi, hj)"},
    {"if (r2 < min(hi * hi, hj * hj)) o += mj;", "|xj - xi| < min(hi, hj)"},
    {"skip_if(r2 >= hi * hi || r2 >= hj * hj); o += mj;", "|xj - xi| < min(hi, hj)"},
    {"if (r < hi + hj) o += mj;", "|xj - xi| < hi + hj"},
    {"real h = 0.5 * (hi + hj); if (r2 < 4 * h * h) o += mj;", "|xj - xi| < hi + hj"},
    {"if (r < max(hi, hj) + skin) o += mj;", "|xj - xi| < max(hi + skin, hj + skin)"},
    {"if (r - hi - hj < skin) o += mj;", "|xj - xi| < hi + skin + hj"},
    {"if (r2 < hi * hj) o += mj;", "|xj - xi| < hi * 0.5 + hj * 0.5"},
    {"if (r2 < hi * hi + hj * hj) o += mj;", "|xj - xi| < max(sqrt(hi * hi * 2), sqrt(hj * hj * 2))"},
    {"if (r < max(rc, hi)) o += mj;", "|xj - xi| < max(rc, hi)"},
    {"if (r < min(rc, hi + hj)) o += mj;", "|xj - xi| < rc"},
    // cutoffs by type
    {"skip_if(r2 >= cut[gi][gj] * cut[gi][gj]); o += mj;",
     "|xj - xi| < min(the largest of cut[gi], the largest of cut[][gj])"},
    {"if (r < cut[gj][gi]) o += mj;", "|xj - xi| < min(the largest of cut[][gi], the largest of cut[gj])"},
    {"real c = cut[gi][gj]; if (c > 0 && r / c < 2) o += mj;",
     "|xj - xi| < min(2 * the largest of cut[gi], 2 * the largest of cut[][gj])"},
    {"if (r2 < per[gi] * per[gi]) o += mj;", "|xj - xi| < per[gi]"},
    {"if (r < max(per[gi], per[gj])) o += mj;", "|xj - xi| < max(per[gi], per[gj])"},
    {"if (r < per[gi + gj]) o += mj;", "|xj - xi| < the largest of per"},
    {"if (r < per[2 * gi]) o += mj;", "|xj - xi| < per[gi * 2]"},
    {"if (r < max(cut[gi][0], cut[gi][1])) o += mj;", "|xj - xi| < max(cut[gi][0], cut[gi][1])"},
    {"if (r < cut[gi][gi + gj]) o += mj;", "|xj - xi| < the largest of cut[gi]"},
    {"if (r < cut[gi][gj] + hj) o += mj;",
     "|xj - xi| < the largest of cut[gi] * 0.5 + the largest of cut[][gj] * 0.5 + hj"},
    // the condition around it
    {"skip_if(i_index == j_index || r2 >= rc * rc); o += mj;", "|xj - xi| < rc"},
    {"skip_if(i_index == j_index); skip_if(r2 >= rc * rc); o += mj;", "|xj - xi| < rc"},
    {"if (gi != gj && r2 < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (gi != gj) { if (r2 < rc * rc) { if (mj > 0) o += mj; } }", "|xj - xi| < rc"},
    {"if (r2 > 0.01 && r2 < rc * rc) o += mj;", "|xj - xi| < rc"},
    {"if (r2 < 1) o += mj; else if (r2 < 4) o -= mj;", "|xj - xi| < 2"},
    {"bool near = r2 < rc * rc; if (near) o += mj;", "|xj - xi| < rc"},
    {"if (gi == 1 ? r < 1 : r < 2) o += mj;", "|xj - xi| < 2"},
    {"o += r2 < rc * rc ? mj : 0;", "|xj - xi| < rc"},
    {"o -= 2 * select(r2 < rc * rc, mj, 0.0);", "|xj - xi| < rc"},
    {"o += (r2 < 1 ? mj : 0) + (r2 < 4 ? r : 0);", "|xj - xi| < 2"},
    {"real f = 0; if (r2 < rc * rc) f = mj; o += f;", "|xj - xi| < rc"},
    // what is a position, and the box
    {"vec3 d = nearest_image(xj - xi, box); if (dot(d, d) < 1) o += mj;", "|xj - xi| < 1 in the periodic box `box`"},
    {"vec3 d = nearest_image(xi - xj, side); if (length(d) < 1) o += mj;", "|xj - xi| < 1 in the periodic box `side`"},
    {"vec3 d = nearest_image(xj - xi, vec3(3, 3, 3)); if (length(d) < 1) o += mj;",
     "|xj - xi| < 1 in the periodic box `3`"},
    {"vec3 d = dx; d.z = nearest_image(d.z, side); if (length(d) < 1) o += mj;",
     "|xj - xi| < 1 in the periodic box `side` along 1 of 3 axes"},
    {"vec3 d = vec3(dx.x - box.x * round(dx.x / box.x), dx.y - box.y * floor(dx.y / box.y + 0.5), "
     "dx.z - box.z * round(dx.z * (1 / box.z))); if (length(d) < 1) o += mj;",
     "|xj - xi| < 1 in the periodic box `box`"},
    {"vec3 s = dx; s = nearest_image(s, vec3(1)); vec3 d = s * side; if (dot(d, d) < 1) o += mj;",
     "|xj * abs(side) - xi * abs(side)| < 1 in the periodic box `side`"},
    {"vec3 d = nearest_image(xj - xi, la, lb, lc); if (dot(d, d) < rc * rc) o += mj;",
     "|xj - xi| < rc in the periodic cell `la`, `lb`, `lc`"},
    {"vec3 d = nearest_image(xi - xj, la, lb, lc); skip_if(i_index == j_index || length(d) >= max(hi, hj)); o += mj;",
     "|xj - xi| < max(hi, hj) in the periodic cell `la`, `lb`, `lc`"},
    {"vec3 d = nearest_image(dx, vec3(3, 0, 0), side * lb, vec3(0, 0, side)); if (d.z * d.z + d.x * d.x + d.y * d.y <= "
     "hi * hi) o += mj;",
     "|xj - xi| <= hi in the periodic cell `(3, 0, 0)`, `side * lb`, `(0, 0, side)`"},
    {"vec3 d = nearest_image((xj + dt * vj) - (xi + dt * vi), la, lb, lc); if (dot(d, d) < 1) o += mj;",
     "|xj + dt * vj - (xi + dt * vi)| < 1 in the periodic cell `la`, `lb`, `lc`"},
    {"vec3 d = 2 * nearest_image(dx, la, lb, lc); if (dot(d, d) < 1) o += mj;",
     "|xj * 2 - xi * 2| < 1 in the periodic cell `la * 2`, `lb * 2`, `lc * 2`"},
    {"vec3 d = nearest_image(dx, la, lb, lc); if (dot(d, d) < 0.25) o += mj; else if (dot(d, d) < 1) o -= mj;",
     "|xj - xi| < 1 in the periodic cell `la`, `lb`, `lc`"},
    {"vec3 d = nearest_image(dx, la, lb, lc); if (dot(d, d) < 1 && d.x * d.x < 1) o += mj;",
     "|xj - xi| < 1 in the periodic cell `la`, `lb`, `lc`"},
    {"vec3 d = nearest_image(dx, la, lb, lc); if (dot(d, d) + dx.x * dx.x < 1) o += mj;",
     "|xj - xi| < 1 in the periodic cell `la`, `lb`, `lc`"},
    {"vec3 d = (xj + dt * vj) - (xi + dt * vi); if (dot(d, d) < 1) o += mj;", "|xj + dt * vj - (xi + dt * vi)| < 1"},
    {"vec3 d = dx + dt * (vj - vi); if (dot(d, d) < 1) o += mj;", "|xj + vj * dt - (xi + vi * dt)| < 1"},
    {"if (abs(dx.x) < rc) o += mj;", "|xj.x - xi.x| < rc"},
    {"if (dx.x * dx.x < rc * rc && dx.y * dx.y < 1) o += mj;", "|xj.x - xi.x| < rc"},
    {"if (max(abs(dx.x), abs(dx.y)) < rc) o += mj;", "|xj.x - xi.x| < rc"},
    {"if (dx.x * dx.x + dx.y * dx.y < rc * rc) o += mj;", "|(xj.x - xi.x, xj.y - xi.y)| < rc"},
    {"if (dx.x * dx.x + 4 * dx.y * dx.y < 1) o += mj;", "|(xj.x - xi.x, xj.y * 2 - xi.y * 2)| < 1"},
    {"real s = 0; for (int k = 0; k < 3; ++k) s += (a[k] - b[k]) * (a[k] - b[k]); if (s < 1) o += mj;",
     "|(b[0] - a[0], b[1] - a[1], b[2] - a[2])| < 1"},
    {"input_i vec2 p; input_j vec2 q; output(sum) real o; if (length(q - p) < 1) o += 1;", "|q - p| < 1"},
    {"input_i real p; input_j real q; output(max) real o; if (abs(q - p) < 1) o = max(o, q);", "|q - p| < 1"},
    {"input_i vec3 p; input_j vec3 q; output(min) real o; output(argmin) index k; vec3 d = q - p; real r2 = dot(d, d); "
     "if (r2 < 1) { o = min(o, r2); k = argmin(k, r2); }",
     "|q - p| < 1"},
    {"input_i vec3 p; input_j vec3 q; output(sum) real s; output(sum) real t; vec3 d = q - p; real r2 = dot(d, d); "
     "if (r2 < 1) s += 1; if (r2 < 4) t += r2;",
     "|q - p| < 2"},
    {"input_i vec3 p; input_j vec3 q; output(sum) int s; if (length(q - p) < 1) s += 1;", "|q - p| < 1"},
    {"float x = INPUT_J[0] - INPUT_I[0]; float y = INPUT_J[1] - INPUT_I[1]; float r2 = x * x + y * y; "
     "if (r2 < INPUT_I[2] * INPUT_I[2]) OUTPUT[0] += 1;",
     "|(INPUT_J[0] - INPUT_I[0], INPUT_J[1] - INPUT_I[1])| < INPUT_I[2]"},
};

TEST(neighbourhood, is_proved_however_it_is_spelled) {
  for (const NeighbourhoodCase& c : kProved) EXPECT_EQ(told(c.text), c.told) << c.text;
}

constexpr NeighbourhoodCase kNotProved[] = {
    // no bound from above
    {"o += mj;", "none"},
    {"if (r2 > 0) o += mj;", "none"},
    {"skip_if(r2 == 0); o += mj;", "none"},
    {"skip_if(r2 < 0.01); o += mj;", "none"},
    {"skip_if(i_index == j_index); o += rsqrt(r2);", "none"},
    {"if (r2 >= rc * rc) o += mj;", "none"},
    {"if (rc < r) o += mj;", "none"},
    {"skip_if(r2 <= rc * rc); o += mj;", "none"},
    {"if (gi == gj) o += mj;", "none"},
    {"if (hi < hj) o += mj;", "none"},
    {"if (dx.x < rc) o += mj;", "none"},
    {"if (dot(vj - vi, dx) < 0) o += mj;", "none"},
    {"if (!(r2 < rc * rc)) o += mj;", "none"},
    {"o += max(rc - r, 0.0);", "none"},
    {"if (1 / r2 < 1) o += mj;", "none"},
    {"if (-r < rc) o += mj;", "none"},
    // one way around it
    {"if (i_index == j_index || r2 < rc * rc) o += mj;", "not: one side of this bounds a distance, the other does not"},
    {"skip_if(i_index == j_index && r2 >= rc * rc); o += mj;",
     "not: one side of this bounds a distance, the other does not"},
    {"if (gi == gj || r2 < rc * rc) o += mj;", "not: one side of this bounds a distance, the other does not"},
    {"if (r2 < rc * rc) o += mj; else o += 1;", "not: one side of this bounds a distance, the other does not"},
    {"if (r2 < rc * rc) o += mj; o += 0.001;", "not: one side of this bounds a distance, the other does not"},
    {"if (gi == 1) { skip_if(r2 >= rc * rc); } o += mj;",
     "not: one side of this bounds a distance, the other does not"},
    {"if (gi == 1 ? r < 1 : mj < 1) o += mj;", "not: one side of this bounds a distance, the other does not"},
    {"if (min(r, mj) < rc) o += mj;", "not: one side of this bounds a distance, the other does not"},
    {"input_i vec3 p; input_j vec3 q; output(sum) real s; output(sum) real t; vec3 d = q - p; real r2 = dot(d, d); "
     "if (r2 < 1) s += 1; t += r2;",
     "not: output 't' is changed at any distance"},
    {"input_i vec3 p; input_j vec3 q; output(argmin) index k; vec3 d = q - p; real r2 = dot(d, d); "
     "k = argmin(k, r2 < 1 ? r2 : 1e30);",
     "not: one side of this bounds a distance, the other does not"},
    {"input_i vec3 p; input_j vec3 q; output(max) real o; vec3 d = q - p; real r2 = dot(d, d); "
     "o = max(o, r2 < 1 ? 1 : 0);",
     "not: output 'o' is changed at any distance"},
    {"real w = r2 < rc * rc ? 1 : 0; o += w * rsqrt(r2);",
     "not: this makes a factor 0, and 0 times infinity is not: output 'o' is changed at any distance; put the "
     "change under an if"},
    {"real w = 0; if (r < hi) w = mj; o += w / r2;",
     "not: this makes a factor 0, and 0 times infinity is not: output 'o' is changed at any distance; put the "
     "change under an if"},
    {"real s = dx.x * dx.x > 0 ? sqrt(r2) : 0; if (s < rc) o += mj;",
     "not: the distance is inside a choice by ?: or if, which nbcc does not solve for it"},
    {"vec3 d = nearest_image(dx, box); real s = dot(d, d) > 0 ? r : 0; if (s < rc) o += mj;",
     "not: the distance is inside a choice by ?: or if, which nbcc does not solve for it"},
    {"real s = r2 > 0 ? sqrt(r2) : -1.0; if (s < rc) o += mj;",
     "not: the distance is inside a choice by ?: or if, which nbcc does not solve for it"},
    // signs
    {"real q = r / hi; if (q < 2) o += mj;",
     "not: the sign of `hi` is not known: where it is negative, this holds at any distance"},
    {"if (r / rc < 1) o += mj;",
     "not: the sign of `rc` is not known: where it is negative, this holds at any distance"},
    {"if (1 - r / hj > 0) o += mj;",
     "not: the sign of `hj` is not known: where it is negative, this holds at any distance"},
    {"if (r * mj < 1) o += mj;",
     "not: the sign of `mj` is not known: where it is negative, this holds at any distance"},
    {"if (1 / r > 1 / rc) o += mj;",
     "not: `1 / rc` is not known to be positive: where it is not, this holds at any distance"},
    {"if (rsqrt(r2) > mj) o += mj;",
     "not: `mj` is not known to be positive: where it is not, this holds at any distance"},
    {"skip_if(hj <= 0 || r / hi >= 2); o += mj;",
     "not: the sign of `hi` is not known: where it is negative, this holds at any distance"},
    {"if (hi > 0 || r < hj) { if (r / hi < 2) o += mj; }",
     "not: one side of this bounds a distance, the other does not"},
    // other bounds
    {"if (r2 < 4 * r2) o += mj;", "none"},
    {"if (r2 < exp(-mj * hi)) o += mj;",
     "not: the bound `exp(-mj * hi)` is not the max, min or sum of a number of i and one of j"},
    {"if (r2 < rc * rc + dot(xi, xj)) o += mj;",
     "not: the bound `rc * rc + xj.x * xi.x + xj.y * xi.y + xj.z * xi.z` is computed from the positions themselves"},
    {"if (r2 < rc * rc + dx.x) o += mj;",
     "not: the bound `xj.x + rc * rc - xi.x` is computed from the positions themselves"},
    {"if (exp(-r2) > 0.01) o += mj;", "not: the distance is inside exp(), which nbcc does not solve for it"},
    {"if (dx.x * dx.x - dx.y * dx.y < 1) o += mj;",
     "not: the distance occurs here several times, so that its bound is not known"},
    {"if (r2 - dot(vj - vi, vj - vi) < 1) o += mj;",
     "not: the distance occurs here several times, so that its bound is not known"},
    {"if (r2 + dot(vj, vi) < 1) o += mj;",
     "not: the bound `1 - vj.x * vi.x - vj.y * vi.y - vj.z * vi.z` is not the max, min or sum of a number of i and "
     "one of j"},
    {"if (abs(dx.x * dx.y) < 1) o += mj;", "none"},
    {"if (dx.x * dx.x * dx.y * dx.y < 1) o += mj;", "not: this compares a product of different distances"},
    // no distance
    {"vec3 s = xj + xi; if (dot(s, s) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = dx * hi; if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = dx - side * trunc(dx / side); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = dx - 2 * side * round(dx / side); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = dx - side * round(dx / (2 * side)); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = nearest_image(dx, hi); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = dx + side * round(dx / side); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    // in a cell of three vectors
    {"vec3 d = nearest_image(dx, la, lb, lc); if (d.x * d.x + d.y * d.y < 1) o += mj;",
     "not: in a cell of three lattice vectors no component of the nearest image bounds the distance, only all three in "
     "one sum of squares do"},
    {"vec3 d = nearest_image(dx, la, lb, lc); if (abs(d.z) < 1) o += mj;",
     "not: in a cell of three lattice vectors no component of the nearest image bounds the distance, only all three in "
     "one sum of squares do"},
    {"vec3 d = nearest_image(dx, la, lb, lc); if (d.x * d.x + d.y * d.y + 2 * d.z * d.z < 1) o += mj;",
     "not: in a cell of three lattice vectors no component of the nearest image bounds the distance, only all three in "
     "one sum of squares do"},
    {"vec3 d = nearest_image(dx, la, lb, lc); vec3 e = nearest_image(dx, lb, lc, vec3(3, 0, 0)); "
     "if (d.x * d.x + d.y * d.y + e.z * e.z < 1) o += mj;",
     "not: in a cell of three lattice vectors no component of the nearest image bounds the distance, only all three in "
     "one sum of squares do"},
    {"vec3 d = nearest_image(dx, la, lb, lc); vec3 e = nearest_image(dx, la, lb, side * lc); "
     "if (dot(d, d) < 1) o += mj; if (dot(e, e) < 1) o += mj;",
     "not: this bounds two distances without a common axis"},
    {"vec3 d = nearest_image(dx, la, lb, lc); if (dot(d, d) < 1) o += mj; if (r2 < 1) o += mj;",
     "not: this bounds two distances without a common axis"},
    {"vec3 d = nearest_image(vec3(dx.x, -dx.y, dx.z), la, lb, lc); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = nearest_image(vec3(dx.x, dx.y, 0), la, lb, lc); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"vec3 d = nearest_image(nearest_image(dx, la, lb, lc), la, lb, lc); if (dot(d, d) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"if (dot(xj, xj) < 1) o += mj;", "none"},
    {"if (length(xi) < rc && length(xj) < rc) o += mj;", "none"},
    {"if (real(gj - gi) * real(gj - gi) < 1) o += mj;",
     "not: no distance of two positions is recognised in this comparison"},
    {"input_i vec3 p; input_j vec3 q; output(sum) real s; output(sum) real t; vec3 d = q - p; "
     "vec3 e = nearest_image(d, vec3(3)); if (dot(d, d) < 1) s += 1; if (dot(e, e) < 1) t += 1;",
     "not: this bounds two distances without a common axis"},
};

TEST(neighbourhood, is_not_proved_where_pairs_at_any_distance_contribute) {
  for (const NeighbourhoodCase& c : kNotProved) EXPECT_EQ(told(c.text), c.told) << c.text;
}

// ---- the property that a search relies on

TEST(neighbourhood, no_pair_beyond_the_reach_contributes) {
  for (const NeighbourhoodCase& c : kProved) {
    const Pipeline pipeline = parsed(c.text);
    if (!prove_neighbourhood(pipeline).neighbourhood) continue;  // reported above
    SCOPED_TRACE(c.text);
    const test::PairCounts pairs = test::expect_neighbours(pipeline, 16);
    EXPECT_GT(pairs.contributing, 0);
    EXPECT_GT(pairs.others, 0);
  }
}

// Guards that nobody writes: comparisons of expressions of distances and lengths, joined by && and ||.
class RandomGuard {
 public:
  explicit RandomGuard(unsigned seed) : random_(seed) {}

  std::string condition(int depth) {
    if (depth > 0 && below(3) == 0)
      return "(" + condition(depth - 1) + (below(2) ? " && " : " || ") + condition(depth - 1) + ")";
    const std::string signs[] = {" < ", " <= ", " > ", " >= "};
    return "(" + number(2) + signs[below(4)] + number(2) + ")";
  }

 private:
  int below(int n) { return int(random_() % unsigned(n)); }

  std::string number(int depth) {
    static const std::vector<std::string> leaves = {"r",
                                                    "r2",
                                                    "r2",
                                                    "r / hi",
                                                    "dx.x * dx.x",
                                                    "abs(dx.y)",
                                                    "rsqrt(r2)",
                                                    "cut[gi][gj]",
                                                    "cut[gj][gi] * cut[gj][gi]",
                                                    "per[gi]",
                                                    "per[gi + gj]",
                                                    "dx.x",
                                                    "hi",
                                                    "hj",
                                                    "mj",
                                                    "rc",
                                                    "skin",
                                                    "2.0",
                                                    "0.5",
                                                    "abs(hi)",
                                                    "abs(rc)",
                                                    "rc * rc",
                                                    "hi * hi",
                                                    "hj * hj",
                                                    "(r2 > 0 ? r : 0)",
                                                    "length(vj - xi)",
                                                    "dot(vj - xi, vj - xi)"};
    if (depth == 0 || below(3) == 0) return leaves[std::size_t(below(int(leaves.size())))];
    const std::string a = number(depth - 1), b = number(depth - 1);
    switch (below(14)) {
      case 0:
        return "(" + a + " + " + b + ")";
      case 1:
        return "(" + a + " - " + b + ")";
      case 2:
        return "(" + a + " * " + b + ")";
      case 3:
        return "(" + a + " / " + b + ")";
      case 4:
        return "min(" + a + ", " + b + ")";
      case 5:
        return "max(" + a + ", " + b + ")";
      case 6:
        return "sqrt(" + a + ")";
      case 7:
        return "abs(" + a + ")";
      case 8:
        return "(-" + a + ")";
      case 9:
        return "pow(" + a + ", 2)";
      case 10:
        return "(" + a + " * " + a + ")";
      case 11:
        return "(" + a + " < " + b + " ? " + a + " : " + b + ")";
      case 12:
        return "(1 / " + a + ")";
      default:
        return "fma(" + a + ", " + b + ", " + number(depth - 1) + ")";
    }
  }

  std::mt19937 random_;
};

TEST(neighbourhood, what_is_proved_of_random_guards_holds) {
  int proved = 0;
  for (unsigned seed = 1; seed <= kRandomGuards; ++seed) {
    const std::string text = "if (" + RandomGuard(seed).condition(2) + ") o += 1;";
    const Pipeline pipeline = parsed(text);
    if (!prove_neighbourhood(pipeline).neighbourhood) continue;
    SCOPED_TRACE(text);
    ++proved;
    test::expect_neighbours(pipeline, 6);
  }
  EXPECT_GT(proved, int(kRandomGuards / 20));
}

TEST(neighbourhood, every_pipeline_of_the_library_with_a_cutoff_has_one) {
  const std::map<std::string, std::string> proved = {
      {"born_mayer", "|xj - xi| < rc in the periodic box `box`"},
      {"buckingham", "|xj - xi| < rc in the periodic box `box`"},
      {"coulomb_reaction_field", "|xj - xi| < rc in the periodic box `box`"},
      {"dpd", "|xj - xi| < rc in the periodic box `box`"},
      {"ewald_real", "|xj - xi| < rc in the periodic box `box`"},
      {"gay_berne", "|xj - xi| < rc in the periodic box `box`"},
      {"lennard_jones", "|xj - xi| < rc in the periodic box `box`"},
      {"lennard_jones_force_shifted", "|xj - xi| < rc in the periodic box `box`"},
      {"radial_distribution", "|xj - xi| < rc in the periodic box `box`"},
      {"lennard_jones_soft_core", "|xj - xi| < rc in the periodic box `box`"},
      {"lennard_jones_switched", "|xj - xi| < rc in the periodic box `box`"},
      {"yukawa", "|xj - xi| < rc in the periodic box `box`"},
      {"sph_density", "|xj - xi| < 2 * hi"},
      {"sph_density_wendland", "|xj - xi| < 2 * hi"},
      {"sph_force", "|xj - xi| < max(2 * hi, 2 * hj)"},
  };
  std::size_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(test::source_folder() + "/pipelines")) {
    const Pipeline pipeline = parse(read_source(entry.path().string()));
    const NeighbourhoodProof proof = prove_neighbourhood(pipeline);
    EXPECT_FALSE(proof.obstacle) << pipeline.name << ": " << proof.obstacle->reason;
    EXPECT_EQ(proof.neighbourhood.has_value(), proved.contains(pipeline.name)) << pipeline.name;
    if (!proof.neighbourhood || !proved.contains(pipeline.name)) continue;
    ++found;
    EXPECT_EQ(neighbourhood_text(pipeline, *proof.neighbourhood), proved.at(pipeline.name));
  }
  EXPECT_EQ(found, proved.size());
}

TEST(neighbourhood, an_obstacle_stands_at_its_comparison) {
  const NeighbourhoodProof proof =
      prove_neighbourhood(parse({"p.pipe",
                                 "input_i vec3 xi;\ninput_i real hi;\ninput_j vec3 xj;\noutput(sum) real o;\n"
                                 "real q = length(xj - xi) / hi;\nskip_if(q >= 2.0);\no += 1.0;\n"}));
  ASSERT_TRUE(proof.obstacle);
  EXPECT_EQ(proof.obstacle->where, (Location{6, 11}));
}

TEST(neighbourhood, axes_and_reach_are_nodes_of_their_side) {
  const NeighbourhoodProof proof = prove_neighbourhood(parsed("if (r < max(hi, hj) + skin) o += mj;"));
  ASSERT_TRUE(proof.neighbourhood);
  const Neighbourhood& n = *proof.neighbourhood;
  ASSERT_EQ(n.axes.size(), 3U);
  for (const Axis& axis : n.axes) {
    EXPECT_EQ(n.graph[axis.of_i].binding, Binding::I);
    EXPECT_EQ(n.graph[axis.of_j].binding, Binding::J);
    EXPECT_EQ(axis.length, kNone);
  }
  EXPECT_EQ(n.reach.kind, Reach::Kind::Max);
  EXPECT_EQ(n.graph[n.reach.of_i].binding, Binding::I);
  EXPECT_EQ(n.graph[n.reach.of_j].binding, Binding::J);
}

}  // namespace
}  // namespace nbcc
