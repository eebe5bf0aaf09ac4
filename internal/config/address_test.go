package config

import (
	"testing"
)

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://a":                     "http://a/v1",
		"http://a:8000/":               "http://a:8000/v1",
		"https://a/openai/v1//":        "https://a/openai/v1",
		"http://[::1]:8000":            "http://[::1]:8000/v1",
		"http://a.b-c.svc.cluster:1/x": "http://a.b-c.svc.cluster:1/x",
	} {
		var a address
		if m := a.Parse("!!str", text); m != nil || a.base("chat") != want {
			t.Errorf("%q: got %q, %+v, want %q", text, a, m, want)
		}
	}
	if got := address("http://a:1").base("azure"); got != "http://a:1" {
		t.Errorf("the root of Azure is %q", got)
	}
	for text, remedy := range map[string]string{
		"a:8000":              "write http://a:8000/v1",
		"//a:8000":            "write http://a:8000/v1",
		"a/openai":            "write http://a/openai",
		"http://a/v1/models":  "write http://a/v1",
		"http://a b":          "write an address such as http://127.0.0.1:8000/v1",
		"http://%zz":          "write an address such as http://127.0.0.1:8000/v1",
		"unix:///run/a.sock":  "write an address such as http://127.0.0.1:8000/v1",
		"http:/b":             "write an address such as http://127.0.0.1:8000/v1",
		"http://:8000":        "write an address such as http://127.0.0.1:8000/v1",
		"http://a:0":          "write an address such as http://127.0.0.1:8000/v1",
		"":                    "write http://127.0.0.1:8000/v1",
		"http://a/v1#section": "remove the ? or # and what follows; keys and passwords belong in files",
	} {
		var a address
		if m := a.Parse("!!str", text); m == nil || m.Remedy != remedy {
			t.Errorf("%q: got %q, %+v, want remedy %q", text, a, m, remedy)
		}
	}
}

func TestAddressName(t *testing.T) {
	for a, want := range map[address]string{
		"http://a.example:8000/v1": "a.example-8000",
		"https://a/v1":             "a",
		"http://[::1]:8000/v1":     "1-8000",
		"":                         "",
	} {
		if got := a.name(); got != want {
			t.Errorf("%q: got %q, want %q", a, got, want)
		}
	}
}
