package main

import (
	"fmt"
	"slices"

	"github.com/google/licensecheck"
)

// allowed are the licences, by SPDX identifier, that a linked module may have:
// those that ask for no more than their text beside the binary. MPL-2.0 is not
// among them: it also asks for the source of its files.
func allowed() []string {
	return []string{
		"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "Unlicense", "Zlib",
	}
}

// leastCoverage is the share of a licence file, in percent, that must be the
// text of known licences; the rest is names, years and headings.
const leastCoverage = 75

// kinds names the licences of a licence file, or says why it is not allowed.
func kinds(text []byte) ([]string, error) {
	cover := licensecheck.Scan(text)
	var names []string
	for _, m := range cover.Match {
		names = append(names, m.ID)
	}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		if !slices.Contains(allowed(), name) {
			return nil, fmt.Errorf("the licence is %s", name)
		}
	}
	if len(names) == 0 || cover.Percent < leastCoverage {
		return nil, fmt.Errorf("only %.0f%% of the text is that of a known licence", cover.Percent)
	}
	return names, nil
}
