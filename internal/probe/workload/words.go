package workload

import "strings"

// The words are common, short and lower-case ASCII: tokenizers take most of
// them as one token each, and a character is a byte.
var (
	nouns = strings.Fields(`anchor apple autumn barrel basket beacon bottle
		branch bridge bucket candle canyon carpet castle cellar chapter circle
		copper corner cotton desert engine fabric farmer feather fence forest
		garden gravel guitar hammer harbor helmet island jacket kettle ladder
		lantern letter market meadow mirror morning mountain needle number
		ocean office orange orchard paper pencil pepper pillow planet pocket
		puzzle rabbit ribbon river rocket saddle season shadow signal silver
		spring square station stone street summer table temple ticket timber
		tower tunnel valley vessel village wagon water weather window winter
		workshop yard`)
	verbs = strings.Fields(`answers balances builds carries changes checks
		collects compares counts covers crosses divides explains fills follows
		gathers guides holds improves joins keeps leaves lifts limits measures
		meets moves needs opens orders passes plans protects reaches repairs
		returns saves sends shapes shares shows sorts supports tests turns
		watches`)
	adjectives = strings.Fields(`bright broad calm careful clean clear cold
		common dark deep dry fair fast fine flat free fresh full gentle heavy
		large late light local long loose narrow new plain quick quiet rough
		round sharp short simple slow small smooth soft solid steady strong
		tall thin warm wide wild young`)
	adverbs = strings.Fields(`again always early gladly later mostly never
		often once quickly quietly rarely slowly soon today together twice
		usually well`)
	prepositions = strings.Fields(`above across after against along around
		before behind below beside between beyond inside near over past
		through toward under without`)
)

// In a pattern the words N, V, A, D and P stand for a noun, verb, adjective,
// adverb and preposition.
var (
	sentences = []string{
		"The A N V the N P the N.",
		"Every N V one A N, and the N V it D.",
		"When the N V the N, the A N D V another.",
		"One N P the A N V more than the N.",
		"It is D the N that V the A N P this N.",
		"Some say the N is A; others say it V the N D.",
		"If the A N V the N, then the N P it V too.",
		"Here the N V the N, there the N V the rest.",
		"Each A N has its own N that D V the N.",
		"The N V D because the N is A and the N is A.",
	}
	questions = []string{
		"How does the A N change what the N V?",
		"Why is the N P the N so A?",
		"Which N V the A N D, and for what reason?",
		"What would follow if the N P the N were A?",
		"Please explain in detail how the N V the A N.",
		"Please compare the A N with the N P it.",
		"Where does the N fit in when the N V the N?",
	}
)
