package documents

import (
	"fmt"
	"regexp"
	"strings"
	"testing"
)

var (
	testName = regexp.MustCompile(`\bTest[A-Z]\w*…?`)
	testsOf  = regexp.MustCompile("`([a-z][\\w/-]*)` (Test[A-Z]\\w*(?:, Test[A-Z]\\w*)*)")
	testsIn  = regexp.MustCompile("((?:`Test[A-Z]\\w*`(?:, | and )?)+) in `([a-z][\\w/-]*)`")
	topics   = regexp.MustCompile(`\*[A-Z]\w*\* ("[^"]+"(?:(?:,| and) "[^"]+")*)`)
	quoted   = regexp.MustCompile(`"([^"]+)"`)
)

// checkTests checks that tests of which a document speaks are there, and where it says: as
// in "`core/relay` TestOutage", in "`TestPlans` in `postgres`", and, for a topic of
// core/storetest and one of its checks, in "*Claim* "the oldest due entry comes first"".
func (x *index) checkTests(t *testing.T, d *document) {
	t.Helper()
	fenced := false
	for i, line := range strings.Split(string(d.source), "\n") {
		where := fmt.Sprintf("%s:%d", d.path, i+1)
		if strings.HasPrefix(line, "```") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		for _, name := range testName.FindAllString(line, -1) {
			if !x.isTest(name) {
				t.Errorf("%s: there is no %s", where, name)
			}
		}
		for _, m := range testsOf.FindAllStringSubmatch(line, -1) {
			x.checkPlace(t, where, m[1], m[2])
		}
		for _, m := range testsIn.FindAllStringSubmatch(line, -1) {
			x.checkPlace(t, where, m[2], m[1])
		}
		for _, m := range topics.FindAllStringSubmatch(line, -1) {
			for _, check := range quoted.FindAllStringSubmatch(m[1], -1) {
				if !x.checks[check[1]] {
					t.Errorf("%s: core/storetest has no check %q", where, check[1])
				}
			}
		}
	}
}

// checkPlace checks that tests are in a folder.
func (x *index) checkPlace(t *testing.T, where, dir, names string) {
	t.Helper()
	for _, name := range testName.FindAllString(names, -1) {
		if !x.tests[dir][name] && x.isTest(name) {
			t.Errorf("%s: %s is not in %s", where, name, dir)
		}
	}
}

// isTest reports whether there is such a test anywhere. "TestPath…" stands for all tests that
// begin so.
func (x *index) isTest(name string) bool {
	prefix, many := strings.CutSuffix(name, "…")
	for _, names := range x.tests {
		for known := range names {
			if known == name || many && strings.HasPrefix(known, prefix) {
				return true
			}
		}
	}
	return false
}
