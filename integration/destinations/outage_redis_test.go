package destinations

import (
	"testing"
	"time"

	"github.com/satchel-go/satchel/core/delivery"
	"github.com/satchel-go/satchel/core/destination"
	"github.com/satchel-go/satchel/core/outbox"
	"github.com/satchel-go/satchel/integration/internal/lab"
)

// Redis dies under load and comes back with what it had: every job runs, and the worker goes on by itself.
func TestRedisGoesDownAndComesBack(t *testing.T) {
	t.Parallel()
	server := redises.private(t)
	j := newJobs(t, redisClient(t, server))
	control := control(t, j.job.Defaults())
	bystander, other := elsewhere()
	o := outage{
		pool: j.pool,
		victim: func(n int) outbox.Entry {
			return outbox.Entry{
				DestinationType: destination.DelayedJob, Destination: j.job.ID(), EventType: j.job.ID(),
				Payload: payload{n}, Delivery: control,
			}
		},
		bystander: bystander,
		handler:   j.Handler, others: []delivery.Handler{other},
		down: server.Crash, up: server.Restart,
		length: time.Duration(lab.Sized(5, 60)) * time.Second,
	}
	o.run(t)
	want := lab.Value[int](t, j.pool, `SELECT count(*) FROM outbox WHERE destination_type = 'DELAYED_JOB'`)
	lab.Eventually(t, "every job has run", func() bool { return j.runs.distinct() == want })
	// A worker whose Redis died while a job ran cannot say that it is done: asynq runs it again.
	if again := j.runs.total() - want; again > workers {
		t.Errorf("%d jobs ran again, more than were running", again)
	}
}
