package dialect

import (
	"strings"
	"testing"

	"synthetic/internal/probe/workload"
)

// TestRequestOfEveryAPI checks the format of an image in the history, and of a JSON schema.
func TestRequestOfEveryAPI(t *testing.T) {
	turn := Turn{
		Model: "m", Spec: &workload.Spec{Answers: workload.Answers{ResponseSchema: map[string]any{"type": "object"}}}, History: []workload.Message{
			{Role: "user", Content: "What is it?", Images: []workload.Image{{Type: "image/jpeg", Data: "aW1hZ2U="}}},
			{Role: "assistant", Content: "A mill."}, {Role: "user", Content: "Why?"},
		},
	}
	for api, want := range map[Name]string{
		"chat":      `"type":"text"},{"image_url":{"url":"data:image/jpeg;base64,aW1hZ2U="},"type":"image_url"}]`,
		"azure":     `{"image_url":{"url":"data:image/jpeg;base64,aW1hZ2U="},"type":"image_url"}`,
		"responses": `{"image_url":"data:image/jpeg;base64,aW1hZ2U=","type":"input_image"}`,
		"messages":  `{"source":{"data":"aW1hZ2U=","media_type":"image/jpeg","type":"base64"},"type":"image"}`,
	} {
		r, err := Of(api).Request(&turn)
		if err != nil || strings.Count(string(r.Body), want) != 1 {
			t.Errorf("%s sends %s, %v; want %s in it once", api, r.Body, err, want)
		}
		const format = `"text":{"format":{"name":"answer","schema":{"type":"object"},"strict":true,"type":"json_schema"}}`
		if api == "responses" && !strings.Contains(string(r.Body), format) {
			t.Errorf("%s is asked for %s", api, r.Body)
		}
	}
}
