-- Fixes, for the current transaction, how the statements after it are planned: they must use their indexes also while the
-- statistics still say that the table is empty, and compiling a plan costs more than running it. See design, "Plans".
-- Result: one row, of no interest.
SELECT set_config('enable_seqscan', 'off', true), set_config('plan_cache_mode', 'force_generic_plan', true), set_config('jit', 'off', true)
