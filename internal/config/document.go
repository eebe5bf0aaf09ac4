package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSize bounds a configuration file. It guards against naming a log or an
// image by mistake, not against anything that a person would write.
const maxSize = 4 << 20

// document parses the text into the root mapping of its only YAML document.
func document(name string, data []byte) (*yaml.Node, Errors) {
	if len(data) > maxSize {
		return nil, Errors{{File: name, Message: fmt.Sprintf("has %d bytes, more than a configuration can have", len(data)), Remedy: "name a YAML file of at most 4 MiB"}}
	}
	in := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := in.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && isEmpty(&doc)) {
		return nil, Errors{{File: name, Line: 1, Column: 1, Message: "the file is empty", Remedy: "write at least targets: [{base_url: \"http://127.0.0.1:8000/v1\"}]"}}
	}
	if err != nil {
		return nil, Errors{syntaxProblem(name, err)}
	}
	switch err := in.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, Errors{syntaxProblem(name, err)}
	default:
		return nil, Errors{{File: name, Line: second.Line, Column: second.Column, Message: "a second YAML document begins here", Remedy: "keep one document to a file and remove the --- line"}}
	}
	return doc.Content[0], nil
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || (doc.Content[0].ShortTag() == "!!null" && doc.Content[0].Value == "")
}

// lineOf finds the line in the messages of the YAML library.
var lineOf = regexp.MustCompile(`^yaml: (?:line ([0-9]+): )?(.*)$`)

// syntaxProblem turns an error of the YAML library into a Problem. The library
// knows no column, so the line's first one is given.
func syntaxProblem(file string, err error) Problem {
	p := Problem{File: file, Line: 1, Column: 1, Remedy: "check the indentation, quotes and brackets at and above this line"}
	text, _, _ := strings.Cut(err.Error(), "\n")
	if m := lineOf.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			p.Line = n
		}
		text = m[2]
	}
	p.Message = "is not YAML (" + text + ")"
	return p
}
