package store

import (
	"fmt"
	"strconv"
	"strings"
)

// evidenceName is the name of a file of evidence, such as foreign-000007-00f067aa0ba902b7.json. The span makes it different from
// the names that other probers give, and from earlier ones with the same number, whose files were moved away.
type evidenceName struct {
	result string
	number int
	span   string
}

func (n evidenceName) String() string {
	return fmt.Sprintf("%s-%06d-%s.json", n.result, n.number, n.span)
}

func parseEvidenceName(file string) (n evidenceName, ok bool) {
	parts := strings.Split(strings.TrimSuffix(file, ".json"), "-")
	if len(parts) != 3 {
		return n, false
	}
	number, err := strconv.Atoi(parts[1])
	n = evidenceName{parts[0], number, parts[2]}
	return n, err == nil && n.String() == file
}
