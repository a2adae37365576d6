package storetest

import (
	"context"
	"time"

	"github.com/satchel-go/satchel/core/claim"
	"github.com/satchel-go/satchel/core/relay"
)

// flakySession lets the calls of a session fail. A failed call returns no result,
// whether it took effect or not.
type flakySession struct {
	flaky *FlakyStore
	relay.Session
}

func (s flakySession) Claim(ctx context.Context, req relay.ClaimRequest) (batch relay.Batch, err error) {
	err = s.flaky.call(ctx, OpClaim, func() (err error) {
		batch, err = s.Session.Claim(ctx, req)
		return err
	})
	if err != nil {
		return relay.Batch{}, err
	}
	return batch, nil
}

func (s flakySession) Settle(ctx context.Context, outcomes []relay.Outcome, ended []relay.LeaseID) (recorded []bool, err error) {
	err = s.flaky.call(ctx, OpSettle, func() (err error) {
		recorded, err = s.Session.Settle(ctx, outcomes, ended)
		return err
	})
	if err != nil {
		return nil, err
	}
	return recorded, nil
}

func (s flakySession) Renew(ctx context.Context, leases []relay.LeaseID, d time.Duration) (lost []relay.LeaseID, err error) {
	err = s.flaky.call(ctx, OpRenew, func() (err error) {
		lost, err = s.Session.Renew(ctx, leases, d)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lost, nil
}

func (s flakySession) NextDue(ctx context.Context, scope claim.Snapshot) (wait time.Duration, ok bool, err error) {
	err = s.flaky.call(ctx, OpNextDue, func() (err error) {
		wait, ok, err = s.Session.NextDue(ctx, scope)
		return err
	})
	if err != nil {
		return 0, false, err
	}
	return wait, ok, nil
}

type flakyTx struct {
	flaky *FlakyStore
	inner relay.TxSession
}

// DeliverTx implements relay.TxSession. An error of work is no failure of the store
// and comes through even where a failure is planned after the call.
func (s flakyTx) DeliverTx(ctx context.Context, o relay.Outcome, work func(ctx context.Context, tx any) error) (recorded bool, workErr, err error) {
	err = s.flaky.call(ctx, OpDeliverTx, func() (err error) {
		recorded, workErr, err = s.inner.DeliverTx(ctx, o, work)
		return err
	})
	switch {
	case workErr != nil:
		return false, workErr, nil
	case err != nil:
		return false, nil, err
	}
	return recorded, nil, nil
}

type flakyRegistrar struct {
	flaky *FlakyStore
	inner relay.Registrar
}

func (s flakyRegistrar) Advertise(ctx context.Context, ad relay.Advertisement) (alive int, err error) {
	err = s.flaky.call(ctx, OpAdvertise, func() (err error) {
		alive, err = s.inner.Advertise(ctx, ad)
		return err
	})
	if err != nil {
		return 0, err
	}
	return alive, nil
}

func (s flakyRegistrar) Retire(ctx context.Context) error {
	return s.flaky.call(ctx, OpRetire, func() error { return s.inner.Retire(ctx) })
}
