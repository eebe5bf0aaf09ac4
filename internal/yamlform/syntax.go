package yamlform

import (
	"bytes"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// lineOf finds the line in the messages of the YAML library.
var lineOf = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// syntaxProblem turns an error of the YAML library into a Problem. The library
// knows no column, so the line's first one is given.
func syntaxProblem(file string, data []byte, err error) Problem {
	p := Problem{File: file, Line: 1, Column: 1}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if m := lineOf.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.Line = n
		}
		text = m[2]
	}
	if name, ok := strings.CutPrefix(text, "unknown anchor '"); ok {
		p.Line, p.Column = placeOf(data, "*"+strings.TrimSuffix(name, "' referenced"))
		p.Message, p.Remedy = "is an alias, which is not supported", "write the value out, or put text that begins with * in quotes"
		return p
	}
	if text == "found character that cannot start any token" || strings.HasPrefix(text, "found a tab") {
		if line, column := tabNear(data, p.Line); column > 0 {
			p.Line, p.Column = line, column
			p.Message, p.Remedy = "is a tab, which YAML does not take for indentation", "write spaces"
			return p
		}
	}
	if strings.HasPrefix(text, "did not find expected") {
		p.Line = brokenLine(data)
	}
	p.Message, p.Remedy = "is not YAML ("+text+")", "check the indentation, quotes and brackets around this line"
	return p
}

// tabNear finds the first tab in the indentation of a line or of the one below,
// since the library counts some lines from 0. Without one the column is 0.
func tabNear(data []byte, line int) (at, column int) {
	lines := bytes.Split(data, []byte("\n"))
	for n := line; n <= min(line+1, len(lines)); n++ {
		text := lines[n-1]
		indent := text[:len(text)-len(bytes.TrimLeft(text, " \t"))]
		if i := bytes.IndexByte(indent, '\t'); i >= 0 {
			return n, i + 1
		}
	}
	return line, 0
}

// placeOf finds the line and column of a text, for the one mistake that the
// library gives no place for.
func placeOf(data []byte, text string) (line, column int) {
	before, _, _ := bytes.Cut(data, []byte(text))
	return bytes.Count(before, []byte("\n")) + 1, len(before) - bytes.LastIndexByte(before, '\n')
}

// maxBack is how many lines brokenLine looks back.
const maxBack = 100

// brokenLine finds the line that made the text invalid. The library's parser
// names the line where the construct around it began, which may be far above.
// It is the last line, of those read up to the error, whose addition made valid
// text invalid: an unclosed bracket is found where it opens.
func brokenLine(data []byte) int {
	lines := bytes.SplitAfter(data, []byte("\n"))
	in := &lineReader{rest: slices.Clone(lines)}
	yaml.NewDecoder(in).Decode(new(yaml.Node))
	last := len(lines) - len(in.rest)
	for n := last; n > max(last-maxBack, 0); n-- {
		if yaml.Unmarshal(bytes.Join(lines[:n-1], nil), new(yaml.Node)) == nil {
			return n
		}
	}
	return max(last, 1)
}

// lineReader gives one line at a time, so that what is left tells how far the
// parser came.
type lineReader struct{ rest [][]byte }

func (r *lineReader) Read(p []byte) (int, error) {
	if len(r.rest) == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.rest[0])
	if r.rest[0] = r.rest[0][n:]; len(r.rest[0]) == 0 {
		r.rest = r.rest[1:]
	}
	return n, nil
}
