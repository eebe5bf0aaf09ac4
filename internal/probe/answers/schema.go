package answers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Schema is a JSON schema that texts are held to.
type Schema struct {
	compiled *jsonschema.Schema
}

// place stands for a schema's own address, to which its references are relative.
const place = "urn:schema"

// mostJudged is how many bytes of text are held to a schema, beyond being JSON:
// each violation in it has a finding of its own.
const mostJudged = 64 << 10

// Compile reads a JSON schema, of draft 2020-12 unless its $schema says
// otherwise. What it refers to must be in it: nothing is fetched, no file opened.
func Compile(schema map[string]any) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(closed{})
	if err := c.AddResource(place, schema); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(place)
	if err != nil {
		return nil, errors.New(findings(err))
	}
	return &Schema{compiled}, nil
}

// Check says of a text that it is "no JSON", or "against the schema", and where.
func (s *Schema) Check(text string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("no JSON: %w", err)
	}
	if len(text) > mostJudged {
		return nil
	}
	if err := s.compiled.Validate(v); err != nil {
		return fmt.Errorf("against the schema: %s", findings(err))
	}
	return nil
}

// findings are the causes that an error of the library names, as one line.
func findings(err error) string {
	lines := strings.Split(strings.ReplaceAll(err.Error(), place, ""), "\n")
	var causes []string
	for i, line := range lines {
		if i+1 == len(lines) || indent(lines[i+1]) <= indent(line) {
			causes = append(causes, strings.TrimPrefix(strings.TrimSpace(line), "- "))
		}
	}
	return strings.Join(causes, "; ")
}

// indent is how far a line is set in. The head of an error is above its causes.
func indent(line string) int {
	if cause := strings.TrimLeft(line, " "); strings.HasPrefix(cause, "- ") {
		return len(line) - len(cause) + 1
	}
	return 0
}

// closed loads nothing.
type closed struct{}

// Load implements the library's URLLoader.
func (closed) Load(url string) (any, error) {
	return nil, fmt.Errorf("%q is outside of the schema", url)
}
