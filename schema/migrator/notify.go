package migrator

import (
	"context"
	"database/sql"
	"fmt"
)

// DisableNotify switches the trigger transactional_outbox_notify off: publishing then looks for sleepers no more and
// never notifies. It is for deployments whose relays poll only, and necessary where transactions that publish are
// committed in two phases: PostgreSQL refuses PREPARE TRANSACTION after a NOTIFY, and the trigger notifies whenever a
// relay sleeps. Relays that listen still find every row, by their poll interval.
//
// It needs the ownership of the table, and waits at most a second for a lock that conflicts with writers (SQLSTATE
// 55P03 after that). Tell [Verify] by [Config.AllowDisabledNotify]. Migrations do not switch the trigger on again unless
// they replace it.
func DisableNotify(ctx context.Context, db *sql.DB, cfg Config) error {
	return alterTrigger(ctx, db, cfg, `ALTER TABLE outbox DISABLE TRIGGER transactional_outbox_notify`)
}

// EnableNotify undoes [DisableNotify], with the same lock.
func EnableNotify(ctx context.Context, db *sql.DB, cfg Config) error {
	return alterTrigger(ctx, db, cfg, `ALTER TABLE outbox ENABLE TRIGGER transactional_outbox_notify`)
}

func alterTrigger(ctx context.Context, db *sql.DB, cfg Config, statement string) error {
	cfg, err := cfg.withDefaults()
	if err != nil {
		return err
	}
	return inSchema(ctx, db, cfg, nil, func(tx *sql.Tx) error {
		if _, err := tx.ExecContext(ctx, `SELECT set_config('lock_timeout', '1s', true)`); err != nil {
			return fmt.Errorf("migrator: preparing the transaction: %w", err)
		}
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("migrator: altering the trigger: %w", err)
		}
		return nil
	})
}
