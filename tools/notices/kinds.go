package main

import (
	"fmt"
	"slices"

	"github.com/google/licensecheck"
)

// allowed lists the permitted licences of linked modules by SPDX identifier. They require
// their text to accompany the binary. MPL-2.0 also requires the source of its files to be
// available: it is, unchanged, under the module's name and version in the module proxy of Go.
func allowed() []string {
	return []string{
		"0BSD", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "ISC", "MIT", "MPL-2.0", "Unlicense", "Zlib",
	}
}

// minCoverage is the share of a licence file, in percent, that must match the text of known
// licences. The rest is names, years and headings.
const minCoverage = 75

// kinds returns the SPDX identifiers of a licence file, or an error if a licence is not
// allowed.
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
	if len(names) == 0 || cover.Percent < minCoverage {
		return nil, fmt.Errorf("only %.0f%% of the text matches a known licence", cover.Percent)
	}
	return names, nil
}
