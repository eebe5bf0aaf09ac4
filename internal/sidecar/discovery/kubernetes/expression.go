package kubernetes

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"k8s.io/client-go/util/jsonpath"
)

// mostText bounds the result of an expression, in bytes.
const mostText = 64 << 10

// expression is a JSONPath template. A nil expression has an empty result. It is not safe for
// concurrent use.
type expression struct{ path *jsonpath.JSONPath }

// CheckExpression returns an error for an invalid expression.
func CheckExpression(text string) error {
	_, err := compile(text)
	return err
}

// compile parses a template. A path with a dot, such as status.url, may lack its braces.
func compile(text string) (*expression, error) {
	if text == "" {
		return nil, nil
	}
	if strings.Contains(text, ".") && !strings.ContainsAny(text, "{}:/ ") {
		text = "{." + strings.TrimPrefix(text, ".") + "}"
	}
	p := jsonpath.New("").AllowMissingKeys(true)
	if err := p.Parse(text); err != nil {
		return nil, err
	}
	return &expression{p}, nil
}

// text returns the result of the template for an object.
func (e *expression) text(object any) (text string, err error) {
	if e == nil {
		return "", nil
	}
	defer caught(&err)
	var out bounded
	if err := e.path.Execute(&out, object); err != nil {
		return "", err
	}
	return strings.TrimSpace(out.String()), nil
}

// labels returns the mapping of texts that the expression finds; nil if there is none.
func (e *expression) labels(object any) (labels map[string]string, err error) {
	if e == nil {
		return nil, nil
	}
	defer caught(&err)
	results, err := e.path.FindResults(object)
	if err != nil || len(results) == 0 || len(results[0]) == 0 {
		return nil, err
	}
	mapping, ok := results[0][0].Interface().(map[string]any)
	if !ok {
		return nil, fmt.Errorf("is no mapping of labels")
	}
	labels = map[string]string{}
	for k, v := range mapping {
		text, ok := v.(string)
		if !ok {
			return nil, fmt.Errorf("is no mapping of labels: %.50q is no text", k)
		}
		labels[k] = text
	}
	return labels, nil
}

// caught converts a panic to an error: the library uses reflection on data of others.
func caught(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("cannot be evaluated: %v", p)
	}
}

// bounded is a buffer of at most mostText bytes.
type bounded struct{ bytes.Buffer }

func (b *bounded) Write(p []byte) (int, error) {
	if b.Len()+len(p) > mostText {
		return 0, fmt.Errorf("is longer than %d bytes", mostText)
	}
	return b.Buffer.Write(p)
}

// expressions are the compiled expressions of a Config.
type expressions struct {
	url, when                             *expression
	several                               bool // url may return several addresses
	labels                                map[string]*expression
	join                                  bool
	joinSelector, joinName, joinNamespace *expression
}

// many matches expressions whose number of results depends on the object.
var many = regexp.MustCompile(`\brange\b|\*|\?\(|\.\.|\[[^]]*[:,]`)

func (c Config) compile() (expressions, error) {
	e := expressions{labels: map[string]*expression{}, join: c.With != nil, several: many.MatchString(c.URL)}
	with := Join{}
	if c.With != nil {
		with = *c.With
	}
	for _, one := range []struct {
		to        **expression
		key, text string
	}{
		{&e.url, "url", c.URL}, {&e.when, "when", c.When},
		{&e.joinSelector, "with.selector", with.Selector}, {&e.joinName, "with.name", with.Name}, {&e.joinNamespace, "with.namespace", with.Namespace},
	} {
		compiled, err := compile(one.text)
		if err != nil {
			return e, fmt.Errorf("%s: %q: %w", one.key, one.text, err)
		}
		*one.to = compiled
	}
	for name, text := range c.Labels {
		compiled, err := compile(text)
		if err != nil {
			return e, fmt.Errorf("labels.%s: %q: %w", name, text, err)
		}
		e.labels[name] = compiled
	}
	return e, nil
}
