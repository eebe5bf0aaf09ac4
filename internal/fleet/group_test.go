package fleet

import "testing"

func TestAllowedHosts(t *testing.T) {
	for _, tc := range []struct {
		pattern, base string
		want          bool
	}{
		{"a", "http://a:1/v1", true}, {"a", "http://ab/v1", false}, {"A", "http://a/v1", true},
		{"*.b", "http://a.b/v1", true}, {"*.b", "http://b/v1", false}, {"*.b", "http://ab/v1", false}, {"*.b", "http://a.b.evil/v1", false},
		{"10.0.0.0/8", "http://10.1.2.3:80/v1", true}, {"10.0.0.0/8", "http://11.1.2.3/v1", false}, {"10.0.0.0/8", "http://10.example/v1", false},
		{"10.0.0.0/8", "http://[::ffff:10.1.2.3]/v1", true}, {"fd00::/8", "http://[fd00::1]:1/v1", true}, {"[::1]", "http://[::1]:1/v1", true},
		{"a:1", "http://a:1/v1", true}, {"a:1", "http://a:2/v1", false}, {"a:1", "http://a/v1", false}, {"*", "http://x/v1", true},
		{"a:80", "http://a/v1", true}, {"a:443", "http://a/v1", false}, {"a:443", "https://A/v1", true},
		{"*.b:1", "http://a.b:1/v1", true}, {"*.b:1", "http://a.b:2/v1", false}, {"[::1]:1", "http://[::1]:1", true}, {"[::1]:1", "http://[::1]", false},
		{"https://a", "https://a/v1", true}, {"https://a", "http://a/v1", false}, {"https://*.b:1", "https://a.b:1", true}, {"https://10.0.0.0/8", "http://10.1.2.3", false},
		{"a", "http://a./v1", false}, {"*.internal", "http://metadata.internal./", false}, {"169.254.0.0/16", "http://0xa9fea9fe/", false}, {"10.0.0.0/8", "http://[fe80::1%25eth0]/", false},
	} {
		g := Group{AllowedHosts: []string{tc.pattern}}
		if err := CheckHost(tc.pattern); err != nil {
			t.Errorf("%q %v", tc.pattern, err)
		}
		if got := g.Allows(tc.base); got != tc.want {
			t.Errorf("%s allows %s: %v", tc.pattern, tc.base, got)
		}
	}
	for _, bad := range []string{"", "a b", "http://", "ftp://a", "https://a/b", "a.", "a/b", "*a", "a.*", "*:80", "x@y"} {
		if CheckHost(bad) == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
	for pattern, want := range map[string]bool{"*": true, "https://*": true, "0.0.0.0/0": true, "http://::/0": true, "*.b": false, "10.0.0.0/8": false} {
		if Everywhere(pattern) != want {
			t.Errorf("%q is everywhere: %v", pattern, !want)
		}
	}
}
