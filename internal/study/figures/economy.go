package figures

import "synthetic/internal/study/runfile"

const secondsPerHour, million = 3600, 1e6

// addEconomy adds the speed for a user, the energy of a token if the GPUs' power is known and,
// if the number of GPUs is known, the yield of a GPU and the price of a million output tokens.
func (l Level) addEconomy(h runfile.Hardware) {
	over := func(m Metric, per, of Figure) {
		if of.Known() && of.Value > 0 {
			l.Figures[m] = Figure{Value: per.Value / of.Value, Low: per.Value / of.High, High: per.Value / of.Low, N: of.N}
		}
	}
	// The speed of the median stream after its first token: tokens/s is 1000 / TPOT in ms.
	over(TokensPerUser, Plain(1000), l.Figure(TPOTP50))
	watts := 0.0
	for _, f := range l.Server {
		if f.Name == runfile.ServerGPUPower {
			watts += f.Value
		}
	}
	if watts > 0 {
		over(JoulesPerToken, Plain(watts), l.Figure(OutputTokensPerSecond))
	}
	if h.GPUs < 1 {
		return
	}
	gpus := float64(h.GPUs)
	share := func(m, of Metric) {
		if f := l.Figure(of); f.Known() {
			l.Figures[m] = Figure{Value: f.Value / gpus, Low: f.Low / gpus, High: f.High / gpus, N: f.N}
		}
	}
	share(TokensPerGPU, OutputTokensPerSecond)
	share(GoodputPerGPU, GoodputPerSecond)
	if h.PricePerGPUHour > 0 {
		over(CostPerMillionTokens, Plain(million*gpus*h.PricePerGPUHour/secondsPerHour), l.Figure(OutputTokensPerSecond))
	}
}
