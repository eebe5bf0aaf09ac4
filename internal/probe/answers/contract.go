// Package answers checks tool calls and JSON in answers. It sends nothing and is deterministic.
package answers

import (
	"errors"
	"fmt"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"synthetic/internal/probe/workload"
)

// Contract checks answers against the tools and the response format that a workload sends. A
// nil *Contract accepts every answer. It is safe for concurrent use.
type Contract struct {
	arguments  map[string]*jsonschema.Schema
	toolChoice string
	format     *jsonschema.Schema
}

// Answer is an answer to check.
type Answer struct {
	Text  string
	Calls []workload.ToolCall
	// Cut means that the token limit ended the answer, so an incomplete end is allowed.
	Cut bool
	// ChoiceOmitted means that the request did not contain the tool choice of the workload.
	ChoiceOmitted bool
}

// NewContract compiles the schemas of a workload. It returns nil if the workload has neither
// tools nor a response format.
func NewContract(spec workload.Spec) (*Contract, error) {
	if len(spec.Tools) == 0 && spec.ResponseSchema == nil {
		return nil, nil
	}
	c := &Contract{arguments: map[string]*jsonschema.Schema{}, toolChoice: spec.ToolChoice}
	for _, t := range spec.Tools {
		schema, err := Compile(t.Parameters)
		if err != nil {
			return nil, fmt.Errorf("compiling the parameters of the tool %q: %w", t.Name, err)
		}
		c.arguments[t.Name] = schema
	}
	if spec.ResponseSchema != nil {
		schema, err := Compile(spec.ResponseSchema)
		if err != nil {
			return nil, fmt.Errorf("compiling the schema of the response format: %w", err)
		}
		c.format = schema
	}
	return c, nil
}

// CheckCalls checks the tool calls of an answer. Markup of a call in the text is an error.
func (c *Contract) CheckCalls(a Answer) error {
	if c == nil || len(c.arguments) == 0 {
		return nil
	}
	for _, m := range templateMarkup() {
		if strings.Contains(a.Text, m) {
			return fmt.Errorf("the text contains markup of the chat template, %q; the server did not parse a tool call", m)
		}
	}
	ids := map[string]bool{}
	for i, call := range a.Calls {
		if err := c.checkCall(call, a.Cut); err != nil {
			return fmt.Errorf("call %d: %w", i+1, err)
		}
		if call.ID == "" || ids[call.ID] {
			return fmt.Errorf("call %d has the ID %q, which is empty or used twice", i+1, call.ID)
		}
		ids[call.ID] = true
	}
	if a.ChoiceOmitted {
		return nil
	}
	return c.checkChoice(a)
}

func (c *Contract) checkCall(call workload.ToolCall, cut bool) error {
	schema := c.arguments[call.Name]
	if schema == nil {
		return fmt.Errorf("no tool is called %.64q", call.Name)
	}
	if cut {
		return nil
	}
	if err := checkText(schema, call.Arguments); err != nil {
		return fmt.Errorf("the arguments of %q: %w", call.Name, err)
	}
	return nil
}

// checkChoice checks that the answer makes the calls that the workload's tool choice demands.
func (c *Contract) checkChoice(a Answer) error {
	switch {
	case c.toolChoice == "" || c.toolChoice == workload.ChoiceAuto:
	case c.toolChoice == workload.ChoiceNone:
		if len(a.Calls) > 0 {
			return errors.New("a tool was called although tool_choice is none")
		}
	case len(a.Calls) == 0 && !a.Cut:
		return fmt.Errorf("no tool was called although tool_choice is %s", c.toolChoice)
	case c.toolChoice != workload.ChoiceRequired:
		for _, call := range a.Calls {
			if call.Name != c.toolChoice {
				return fmt.Errorf("the tool %q was called although tool_choice is %s", call.Name, c.toolChoice)
			}
		}
	}
	return nil
}

// CheckText checks the text of an answer against the response format, unless it calls tools
// instead.
func (c *Contract) CheckText(a Answer) error {
	if c == nil || c.format == nil || a.Cut || len(a.Calls) > 0 && len(c.arguments) > 0 {
		return nil
	}
	if err := checkText(c.format, a.Text); err != nil {
		return fmt.Errorf("the answer: %w", err)
	}
	return nil
}

// templateMarkup returns the beginnings of what models write around calls and turns. A server
// with the right parser removes it. Otherwise clients miss a call, or users see the markup.
func templateMarkup() []string {
	return []string{
		"<tool_call", "</tool_call", "<function=", "<|tool_call", // Qwen, Hermes, Nemotron; Kimi, Granite, GLM
		"<|python_tag|>", "<|eom_id|>", "<|start_header_id|>", "<|eot_id|>", // Llama
		"[TOOL_CALLS]", "[/TOOL_CALLS]", "[TOOL_RESULTS]", // Mistral
		"<｜tool▁call", "<｜DSML｜", // DeepSeek
		"<|channel|>", "<|constrain|>", "<|recipient|>", // gpt-oss
		"<|START_ACTION|>", "<minimax:tool_call", "<longcat_tool_call", "<TOOLCALL>", // Cohere, MiniMax, LongCat, Nemotron
		"<|im_start|>", "<|im_end|>",
	}
}

const (
	// schemaURL is the address of the schema itself, the base of its relative references.
	schemaURL = "urn:schema"
	// maxValidated is the maximum length, in bytes, of a text that is validated by a schema.
	// Each violation costs memory.
	maxValidated = 64 << 10
)

// Compile compiles a JSON schema, by draft 2020-12 unless $schema names another one. A schema
// cannot refer to files or URLs.
func Compile(schema map[string]any) (*jsonschema.Schema, error) {
	c := jsonschema.NewCompiler()
	c.UseLoader(noLoader{})
	if err := c.AddResource(schemaURL, schema); err != nil {
		return nil, err
	}
	compiled, err := c.Compile(schemaURL)
	if err != nil {
		return nil, errors.New(listCauses(err))
	}
	return compiled, nil
}

func checkText(schema *jsonschema.Schema, text string) error {
	v, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		return fmt.Errorf("invalid JSON: %w", err)
	}
	if len(text) > maxValidated {
		return nil
	}
	if err := schema.Validate(v); err != nil {
		return fmt.Errorf("not valid by the schema: %s", listCauses(err))
	}
	return nil
}

// listCauses returns the innermost causes of an error of the library, in one line.
func listCauses(err error) string {
	lines := strings.Split(strings.ReplaceAll(err.Error(), schemaURL, ""), "\n")
	var causes []string
	for i, line := range lines {
		if i+1 == len(lines) || causeIndent(lines[i+1]) <= causeIndent(line) {
			causes = append(causes, strings.TrimPrefix(strings.TrimSpace(line), "- "))
		}
	}
	return strings.Join(causes, "; ")
}

// causeIndent returns the indentation of a cause, and 0 for the first line of an error.
func causeIndent(line string) int {
	if cause := strings.TrimLeft(line, " "); strings.HasPrefix(cause, "- ") {
		return len(line) - len(cause) + 1
	}
	return 0
}

// noLoader implements jsonschema.URLLoader and loads nothing.
type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%q is outside of the schema", url)
}
