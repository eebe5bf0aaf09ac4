package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"

	"go.yaml.in/yaml/v3"
)

// maxSize bounds a configuration file. It guards against naming a log or an
// image by mistake, not against anything that a person would write.
const maxSize = 4 << 20

// leastFile is the remedy of a file that holds no configuration at all.
const leastFile = `write at least targets: [{base_url: "http://127.0.0.1:8000/v1"}]`

// document parses the text into the root mapping of its only YAML document;
// least is the remedy of a file that holds nothing.
func document(name string, data []byte, least string) (*yaml.Node, Errors) {
	if len(data) > maxSize {
		return nil, Errors{{File: name, Message: fmt.Sprintf("has %d bytes, more than a configuration can have", len(data)), Remedy: "name a YAML file of at most 4 MiB"}}
	}
	in := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	err := in.Decode(&doc)
	if errors.Is(err, io.EOF) || (err == nil && isEmpty(&doc)) {
		return nil, Errors{{File: name, Line: 1, Column: 1, Message: "the file is empty", Remedy: least}}
	}
	if err != nil {
		return nil, Errors{syntaxProblem(name, data, err)}
	}
	switch err := in.Decode(&second); {
	case errors.Is(err, io.EOF):
	case err != nil:
		return nil, Errors{syntaxProblem(name, data, err)}
	default:
		return nil, Errors{{File: name, Line: second.Line, Column: second.Column, Message: "a second YAML document begins here", Remedy: "keep one document to a file and remove the --- line"}}
	}
	if root := doc.Content[0]; root.Kind != yaml.MappingNode {
		return nil, Errors{{File: name, Line: root.Line, Column: root.Column, Message: "the file does not hold keys and values", Remedy: least}}
	}
	return doc.Content[0], nil
}

func isEmpty(doc *yaml.Node) bool {
	return len(doc.Content) == 0 || (doc.Content[0].ShortTag() == "!!null" && doc.Content[0].Value == "")
}
