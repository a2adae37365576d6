-- Generated from migrations/20260201000001_add_leases_and_relays.sql; change that file and run go generate.
DO $refuse$
BEGIN
    RAISE EXCEPTION 'satchel has no way down; nothing was changed; now run: migrate force 20260201000001'
        USING ERRCODE = 'feature_not_supported';
END;
$refuse$;
