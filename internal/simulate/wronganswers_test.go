package simulate

import "testing"

func TestTemperatureMakesAnswersVary(t *testing.T) {
	_, c := serve(t, quick)
	seen := map[string]bool{}
	for range 3 {
		seen[c.say(t, []message{user("hi")}, `,"temperature":0.7`).content] = true
	}
	if len(seen) != 3 {
		t.Errorf("%d answers of 3 differ", len(seen))
	}
}
