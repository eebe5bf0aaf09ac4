package bound

import "unicode/utf8"

// Clip shortens a text to at most maxBytes, between two characters.
func Clip(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	for maxBytes > 0 && !utf8.RuneStart(text[maxBytes]) {
		maxBytes--
	}
	return text[:maxBytes]
}

// Shorten is Clip that marks a shortened text with an ellipsis.
func Shorten(text string, maxBytes int) string {
	if len(text) <= maxBytes {
		return text
	}
	return Clip(text, maxBytes) + "…"
}
