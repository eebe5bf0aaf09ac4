package config

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestSecretsAreNotRepeated puts a secret in every right and wrong place, and checks that no message repeats
// it.
func TestSecretsAreNotRepeated(t *testing.T) {
	for _, secret := range []string{"hunter2", "sk-proj-0123456789", "hf_AbCd1234", "eyJhbGciOiJIUzI1NiJ9.x.y", "a2V5LXdpdGgtYmFzZTY0LWFuZC1sZW5ndGg9PQ=="} {
		for _, line := range []string{
			"api_key: %s",
			"api-key: %s",
			"key: %s",
			"token: {value: %s}",
			"Authorization: Bearer %s",
			"api_key_env: %s-",
			"api_key_file: %s",
			"api_key_file: [%s]",
			"headers: {Authorization: Bearer %s}",
			"headers: {X-API-KEY: %s}",
			"headers: {api-key: [%s]}",
			"headers: {x-one: \"%s\\n\"}",
			"headers: %s",
			"headers: [%s]",
			"extra_body: {model: %s}",
			"http_client: {proxy_url: \"http://u:%s@proxy:31x28\"}",
			"http_client: {proxy_url: \"http://u:%s@proxy:3128\"}",
			"http_client: {authorization: {credentials: %s}}",
			"http_client: {authorization: {type: %s}}",
			"http_client: {oauth2: {client_id: a, token_url: http://t, client_secret: %s}}",
			"http_client: {http_headers: {X-Api-Key: {values: [%s]}}}",
			"http_client: {proxy_url: \"http://p\", proxy_connect_header: {Proxy-Authorization: [%s]}}",
			"http_client: {basic_auth: {username: u, password_ref: %s}}",
			"http_client: {tls_config: {key: %s}}",
			"http_client: {http_headers: {X-Any: {secrets: [%s]}}}",
			"http_client: [%s]",
			"extra_body: {nested: {token: !t %s}}",
			"extra_body: %s",
			"base_url: http://me:%s@b/v1",
			"base_url: http://%s@b/v1",
			"base_url: me:%s",
			"base_url: me:%s@b",
			"base_url: http://me:%s",
			"base_url: http://b/v1?key=%s",
			"base_url: ftp://me:%s@b",
		} {
			text := "targets:\n  - name: chat\n    " + fmt.Sprintf(line, secret) + "\n    oops: 1\n"
			_, err := Parse("synthetic.yml", []byte(text), "")
			if err == nil {
				t.Errorf("accepted:\n%s", text)
			} else if strings.Contains(err.Error(), secret) {
				t.Errorf("the secret of\n%sis repeated in\n%v", text, err)
			}
		}
	}
}

// TestEnvNames checks that variable names that begin like a key are accepted, and keys are not.
func TestEnvNames(t *testing.T) {
	for name, good := range map[string]bool{
		"LLM_API_KEY": true, "HF_TOKEN": true, "SK_KEY_2": true, "_x": true,
		"MY_VERY_LONG_VARIABLE_NAME_FOR_KEY_NUMBER_2": true,
		"hf_AbCd1234": false, "sk-abc": false, "2x": false, "$KEY": false,
	} {
		_, err := Parse("synthetic.yml", []byte("targets: [{base_url: http://a, api_key_env: "+name+"}]"), "")
		if (err == nil) != good {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUnsetKeys checks that only a process that sends requests needs the variables of its keys.
func TestUnsetKeys(t *testing.T) {
	t.Setenv("SYNTHETIC_TEST_SET", "secret")
	t.Setenv("SYNTHETIC_TEST_EMPTY", " ")
	for name, set := range map[string]bool{"SYNTHETIC_TEST_SET": true, "SYNTHETIC_TEST_EMPTY": false, "SYNTHETIC_TEST_UNSET": false} {
		file := filepath.Join(t.TempDir(), "synthetic.yml")
		text := "targets:\n  - base_url: http://a\n    api_key_env: " + name + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Load(file); err != nil {
			t.Errorf("%s: what only reads asks for the key: %v", name, err)
		}
		_, err := LoadToRun(file)
		if set != (err == nil) || !set && !strings.Contains(err.Error(), ":3:") {
			t.Errorf("%s: %v", name, err)
		}
	}
}
