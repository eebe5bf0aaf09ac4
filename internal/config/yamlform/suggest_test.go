package yamlform

import "testing"

func TestNearest(t *testing.T) {
	keys := []string{"name", "base_url", "model", "models_timeout", "api_key_file", "api_key_env", "headers", "tls", "connection", "extra_body", "server_metrics"}
	for name, want := range map[string]string{
		"base-url": "base_url", "BaseURL": "base_url", "url": "base_url", "modle": "model",
		"header": "headers", "api_key_flie": "api_key_file", "extra": "extra_body",
		"colour": "", "x": "", "": "", "timeout": "models_timeout",
	} {
		if got := nearest(name, keys); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b        string
		limit, want int
	}{
		{"", "", 9, 0}, {"", "abc", 9, 3}, {"abc", "", 9, 3}, {"abc", "abc", 9, 0}, {"abc", "abd", 9, 1},
		{"abc", "acb", 9, 1}, {"abcd", "bcd", 9, 1}, {"kitten", "sitting", 9, 3}, {"kitten", "sitting", 4, 3},
		{"a-long-name", "another-one", 4, 4}, {"a-long-name", "a", 4, 4},
	} {
		if got := distance(c.a, c.b, c.limit); got != c.want {
			t.Errorf("%q, %q: got %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestSequence(t *testing.T) {
	many := make([]string, maxListed+4)
	for i := range many {
		many[i] = "n"
	}
	for _, c := range []struct {
		names []string
		want  string
	}{
		{nil, ""}, {[]string{"a"}, "a"}, {[]string{"a", "b"}, "a and b"}, {[]string{"a", "b", "c"}, "a, b and c"},
		{many, "n, n, n, n, n, n, n, n, n, n, n, n, n, n, n, n and 4 more"},
	} {
		if got := Sequence(c.names); got != c.want {
			t.Errorf("%v: got %q, want %q", c.names, got, c.want)
		}
	}
}
