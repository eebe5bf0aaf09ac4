package metrics

// Names of the labels of a sweep's metrics.
const (
	labelVariant = "variant"
	labelLevel   = "level"
	LabelShard   = "shard"
	labelOutcome = "outcome"
)

// Names of the metrics of a sweep under way.
const (
	StudyPhase                 = "synthetic_study_phase"
	StudyLoad                  = "synthetic_study_load"
	StudyConversationsStarted  = "synthetic_study_conversations_started_total"
	StudyConversationsInFlight = "synthetic_study_conversations_in_flight"
	StudyTurnsInFlight         = "synthetic_study_turns_in_flight"
	StudyTurns                 = "synthetic_study_turns_total"
	StudyOutputTokens          = "synthetic_study_output_tokens_total"
	StudyTTFT                  = "synthetic_study_ttft_seconds"
	StudyTPOT                  = "synthetic_study_tpot_seconds"
	StudyITL                   = "synthetic_study_itl_seconds"
	StudyTurnDuration          = "synthetic_study_turn_duration_seconds"
	StudyLevelsDone            = "synthetic_study_levels_done"
	StudyLevelsToCome          = "synthetic_study_levels_to_come"
	StudyLeft                  = "synthetic_study_left_seconds"
)

// StudyCatalog lists the families of "synthetic sweep --web.listen-address", in the
// order of the documentation.
func StudyCatalog() []Metric {
	level := []string{labelVariant, labelLevel, LabelShard}
	turn := []string{labelVariant, labelLevel, LabelTurn, LabelShard}
	return []Metric{
		{StudyPhase, gauge, "", "What the sweep does now, and in which level; always 1.", []string{labelVariant, labelLevel, labelPhase, LabelShard}},
		{StudyLoad, gauge, "", "Load that the level under way asks of the shard: conversations in flight in a closed loop, conversation starts per second in an open one. The level itself is the sum over the shards.", []string{labelVariant, labelLevel, "kind", LabelShard}},
		{StudyConversationsStarted, Counter, "conversations", "Conversations started in a level, warm-up and tail included.", level},
		{StudyConversationsInFlight, gauge, "conversations", "Conversations started and not yet ended, those between two turns included.", level},
		{StudyTurnsInFlight, gauge, "turns", "Turns sent and not yet ended.", level},
		{StudyTurns, Counter, "turns", "Turns ended in a level, warm-up and tail included, by outcome.", []string{labelVariant, labelLevel, LabelTurn, labelOutcome, LabelShard}},
		{StudyOutputTokens, Counter, "tokens", "Output tokens of those turns.", turn},
		{StudyTTFT, Histogram, "seconds", "Time to first token of those turns.", turn},
		{StudyTPOT, Histogram, "seconds", "Time per output token of those turns.", turn},
		{StudyITL, Histogram, "seconds", "Inter-token latency of those turns.", turn},
		{StudyTurnDuration, Histogram, "seconds", "Time from sending a turn to the end of its stream, of successful ones of those turns.", turn},
		{StudyLevelsDone, gauge, "levels", "Levels that are done.", []string{LabelShard}},
		{StudyLevelsToCome, gauge, "levels", "Levels still to come, the one under way included; of a search the most there can be.", []string{LabelShard}},
		{StudyLeft, gauge, "seconds", "Estimated time to the end of the sweep.", []string{LabelShard}},
	}
}
