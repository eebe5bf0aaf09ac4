package config

import (
	"testing"
	"time"
)

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"250ms":   250 * time.Millisecond,
		"1h30m":   90 * time.Minute,
		"30d":     720 * time.Hour,
		"0s":      0,
		"1s500ms": 1500 * time.Millisecond,
	} {
		var d duration
		if m := d.parse("!!str", text); m != nil || time.Duration(d) != want {
			t.Errorf("%q: got %v, %+v, want %v", text, d, m, want)
		}
	}
	for _, text := range []string{"", "0", "-1s", "1", "1.5s", "1us", "ms", "1 s", "1s1h", "300y"} {
		var d duration
		if m := d.parse("!!str", text); m == nil {
			t.Errorf("%q: got %v, want a mistake", text, d)
		}
	}
}

// TestShare holds that a percentage is exactly the double that its decimal
// fraction is: objectives are compared and printed.
func TestShare(t *testing.T) {
	for text, want := range map[string]float64{
		"99%": 0.99, "99 %": 0.99, "99.9%": 0.999, "99.99%": 0.9999, "0.1%": 0.001,
		"0.995": 0.995, ".5": 0.5, "5e-1": 0.5,
	} {
		var s share
		if m := s.parse("!!str", text); m != nil || float64(s) != want {
			t.Errorf("%q: got %v, %+v, want %v", text, float64(s), m, want)
		}
	}
	for _, text := range []string{"", "%", "0", "0%", "1", "100%", "99", "-5%", "101%", "1e9", "nan", "inf", "nan%", "0x1p-2%", "99%%"} {
		var s share
		if m := s.parse("!!str", text); m == nil {
			t.Errorf("%q: got %v, want a mistake", text, float64(s))
		}
	}
}

func TestAddress(t *testing.T) {
	for text, want := range map[string]string{
		"http://a":                     "http://a/v1",
		"http://a:8000/":               "http://a:8000/v1",
		"https://a/openai/v1//":        "https://a/openai/v1",
		"http://[::1]:8000":            "http://[::1]:8000/v1",
		"http://a.b-c.svc.cluster:1/x": "http://a.b-c.svc.cluster:1/x",
	} {
		var a address
		if m := a.parse("!!str", text); m != nil || string(a) != want {
			t.Errorf("%q: got %q, %+v, want %q", text, a, m, want)
		}
	}
	for text, remedy := range map[string]string{
		"a:8000":              "write http://a:8000/v1",
		"//a:8000":            "write http://a:8000/v1",
		"a/openai":            "write http://a/openai",
		"http://a/v1/models":  "write http://a/v1",
		"http://a b":          "write an address such as http://127.0.0.1:8000/v1",
		"http://%zz":          "write an address such as http://127.0.0.1:8000/v1",
		"unix:///run/a.sock":  "write an address such as http://127.0.0.1:8000/v1",
		"http://:8000":        "write an address such as http://127.0.0.1:8000/v1",
		"http://a:0":          "write an address such as http://127.0.0.1:8000/v1",
		"":                    "write http://127.0.0.1:8000/v1",
		"http://a/v1#section": "leave out the ? or # and what follows; keys belong in api_key_file or api_key_env",
	} {
		var a address
		if m := a.parse("!!str", text); m == nil || m.remedy != remedy {
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
