package cases

import "time"

// Scale says how much of everything is measured.
type Scale struct {
	// Name is told in the report.
	Name string

	// Backlogs are the numbers of rows in the way of a claim. Statements whose time
	// grows with them are measured up to SlowBacklog.
	Backlogs    []int
	SlowBacklog int
	// ClaimRounds is the number of claims timed; SlowBudget ends the rounds of a slow one.
	ClaimRounds int
	SlowBudget  time.Duration
	ClaimCap    time.Duration // a single claim that takes longer is given up

	SchemaRows int // rows written to learn the price of the indexes

	DrainRows  int // rows of one drain
	Relays     []int
	Batches    []int
	Handlers   []time.Duration // how long a handler takes
	SlowRows   int             // rows of a drain whose handler takes time
	DrainRound int             // repetitions, of which the median counts

	KafkaRows   int  // rows of one drain into Kafka
	KafkaRounds int  // rounds, of which the median counts, after some that do not
	StandIns    bool // a stand-in for Kafka will do, since the figures mean nothing

	OrderedRows  int // entries of the hot aggregate
	SnapshotRows int // rows delivered while a snapshot is held open

	PublishRound  time.Duration // length of one round of a variant
	PublishRounds int
	BatchSizes    []int // entries of one PublishAll
	BatchRows     int   // entries published with each size

	Rates   []int         // messages per second
	Latency time.Duration // how long each rate is kept up

	MemoryRows []int         // rows waiting while a relay's memory is looked at
	MemoryTime time.Duration // how long it works
}

// Scales of a run.
var (
	// Tiny only proves that every case works. Its figures mean nothing.
	Tiny = Scale{
		Name: "tiny", Backlogs: []int{500}, SlowBacklog: 500, ClaimRounds: 5, SlowBudget: time.Second, ClaimCap: 10 * time.Second,
		SchemaRows: 1000, DrainRows: 500, Relays: []int{1, 2}, Batches: []int{100}, Handlers: []time.Duration{0, time.Millisecond},
		SlowRows: 50, DrainRound: 1, KafkaRows: 300, KafkaRounds: 1, StandIns: true, OrderedRows: 300, SnapshotRows: 500, PublishRound: 100 * time.Millisecond, PublishRounds: 1,
		BatchSizes: []int{1, 10}, BatchRows: 50, Rates: []int{50}, Latency: 500 * time.Millisecond,
		MemoryRows: []int{500}, MemoryTime: 200 * time.Millisecond,
	}
	// Short is what a developer waits for.
	Short = Scale{
		Name: "short", Backlogs: []int{10_000, 100_000, 1_000_000}, SlowBacklog: 100_000, ClaimRounds: 150, SlowBudget: 800 * time.Millisecond,
		ClaimCap: 20 * time.Second, SchemaRows: 50_000, DrainRows: 60_000, Relays: []int{1, 2}, Batches: []int{1000},
		Handlers: []time.Duration{0, time.Millisecond}, SlowRows: 20_000, DrainRound: 1, KafkaRows: 20_000, KafkaRounds: 3, OrderedRows: 100_000, SnapshotRows: 60_000,
		PublishRound: 250 * time.Millisecond, PublishRounds: 15, BatchSizes: []int{1, 10, 100, 1000}, BatchRows: 10_000,
		Rates: []int{1, 100, 1000}, Latency: 4 * time.Second, MemoryRows: []int{10_000, 1_000_000}, MemoryTime: 3 * time.Second,
	}
	// Full is for the results that are published.
	Full = Scale{
		Name: "full", Backlogs: []int{10_000, 100_000, 1_000_000, 10_000_000}, SlowBacklog: 1_000_000, ClaimRounds: 500, SlowBudget: 3 * time.Second,
		ClaimCap: time.Minute, SchemaRows: 200_000, DrainRows: 120_000, Relays: []int{1, 2, 4, 8}, Batches: []int{100, 500, 1000},
		Handlers: []time.Duration{0, time.Millisecond, 10 * time.Millisecond}, SlowRows: 20_000, DrainRound: 1, KafkaRows: 60_000, KafkaRounds: 5, OrderedRows: 100_000,
		SnapshotRows: 1_000_000, PublishRound: time.Second, PublishRounds: 15, BatchSizes: []int{1, 10, 100, 1000}, BatchRows: 50_000,
		Rates: []int{1, 100, 1000}, Latency: 20 * time.Second, MemoryRows: []int{10_000, 1_000_000, 10_000_000}, MemoryTime: 15 * time.Second,
	}
)
