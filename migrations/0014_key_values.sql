-- Small values that outlive a call, shared by the functions of a tenant, and how much of its share each tenant uses.
-- Keys sort by their bytes, so that a prefix is a range of the primary key.
CREATE TABLE key_values (
    tenant_id uuid NOT NULL REFERENCES tenants (id),
    key text COLLATE "C" NOT NULL,
    value bytea NOT NULL,
    expires_at timestamptz,
    size bigint NOT NULL GENERATED ALWAYS AS (octet_length(key) + octet_length(value) + 64) STORED,
    CONSTRAINT key_values_pkey PRIMARY KEY (tenant_id, key)
);
CREATE INDEX key_values_expiring ON key_values (expires_at) WHERE expires_at IS NOT NULL;

ALTER TABLE key_values ENABLE ROW LEVEL SECURITY;
ALTER TABLE key_values FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON key_values TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
-- Maintenance takes away what has expired, and sees nothing else.
CREATE POLICY expired ON key_values TO pleat_writer USING (expires_at <= now());

GRANT SELECT, INSERT (tenant_id, key, value, expires_at), UPDATE (value, expires_at), DELETE ON key_values TO pleat_app;
GRANT SELECT (tenant_id, key, size, expires_at), DELETE ON key_values TO pleat_writer;

CREATE TABLE key_value_usage (
    tenant_id uuid CONSTRAINT key_value_usage_pkey PRIMARY KEY REFERENCES tenants (id),
    bytes bigint NOT NULL
);

ALTER TABLE key_value_usage ENABLE ROW LEVEL SECURITY;
ALTER TABLE key_value_usage FORCE ROW LEVEL SECURITY;
CREATE POLICY of_tenant ON key_value_usage TO pleat_app
    USING (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid)
    WITH CHECK (tenant_id = nullif(current_setting('app.tenant', true), '')::uuid);
CREATE POLICY of_writer ON key_value_usage TO pleat_writer USING (true) WITH CHECK (true);

GRANT SELECT, INSERT, UPDATE (bytes), DELETE ON key_value_usage TO pleat_app;
GRANT SELECT, UPDATE (bytes) ON key_value_usage TO pleat_writer;

CREATE FUNCTION pleat_value(tenant uuid, wanted text) RETURNS SETOF bytea LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY
        SELECT v.value FROM key_values v
        WHERE v.tenant_id = tenant AND v.key = wanted AND (v.expires_at IS NULL OR v.expires_at > now());
END
$$;

-- Adds to what a tenant uses, or raises configuration_limit_exceeded, which takes the whole statement back.
-- Rows of key_values are always locked before the row of key_value_usage, and those that are taken away here are only
-- such as nobody else holds: no two of these can wait for each other.
CREATE FUNCTION pleat_charge(tenant uuid, delta bigint, most bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    freed bigint;
BEGIN
    IF delta = 0 THEN
        RETURN;
    END IF;
    INSERT INTO key_value_usage (tenant_id, bytes) VALUES (tenant, 0) ON CONFLICT DO NOTHING;
    UPDATE key_value_usage u SET bytes = u.bytes + delta
    WHERE u.tenant_id = tenant AND (delta < 0 OR u.bytes + delta <= most);
    IF FOUND THEN
        RETURN;
    END IF;
    -- What has expired still counts until it is taken away: that is done now.
    WITH gone AS (
        DELETE FROM key_values v WHERE v.tenant_id = tenant AND v.key IN (
            SELECT e.key FROM key_values e
            WHERE e.tenant_id = tenant AND e.expires_at <= now() FOR UPDATE SKIP LOCKED
        ) RETURNING v.size
    )
    SELECT coalesce(sum(g.size), 0) INTO freed FROM gone g;
    UPDATE key_value_usage u SET bytes = u.bytes + delta - freed
    WHERE u.tenant_id = tenant AND u.bytes + delta - freed <= most;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'the share is used up' USING ERRCODE = 'configuration_limit_exceeded';
    END IF;
END
$$;

CREATE FUNCTION pleat_set_value(tenant uuid, wanted text, content bytea, lifetime interval, most bigint)
RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    before bigint;
    after bigint;
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    LOOP
        SELECT v.size INTO before FROM key_values v WHERE v.tenant_id = tenant AND v.key = wanted FOR UPDATE;
        IF FOUND THEN
            UPDATE key_values v SET value = content, expires_at = now() + lifetime
            WHERE v.tenant_id = tenant AND v.key = wanted RETURNING v.size INTO after;
            EXIT;
        END IF;
        before := 0;
        INSERT INTO key_values AS v (tenant_id, key, value, expires_at)
        VALUES (tenant, wanted, content, now() + lifetime) ON CONFLICT DO NOTHING RETURNING v.size INTO after;
        -- Another may have been first; then there is a row to change.
        EXIT WHEN FOUND;
    END LOOP;
    PERFORM pleat_charge(tenant, after - before, most);
END
$$;

CREATE FUNCTION pleat_delete_value(tenant uuid, wanted text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
    gone bigint;
    visible boolean;
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    DELETE FROM key_values v WHERE v.tenant_id = tenant AND v.key = wanted
    RETURNING v.size, v.expires_at IS NULL OR v.expires_at > now() INTO gone, visible;
    IF gone IS NULL THEN
        RETURN false;
    END IF;
    PERFORM pleat_charge(tenant, -gone, 0);
    RETURN visible;
END
$$;

-- A value that is no whole number of 64 bits, before or after, raises invalid_text_representation.
CREATE FUNCTION pleat_increment(tenant uuid, wanted text, delta bigint, most bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
    found_value bytea;
    digits text;
    live boolean;
    before bigint;
    after bigint;
    result numeric;
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    LOOP
        SELECT v.value, v.expires_at IS NULL OR v.expires_at > now(), v.size INTO found_value, live, before
        FROM key_values v WHERE v.tenant_id = tenant AND v.key = wanted FOR UPDATE;
        IF FOUND THEN
            digits := CASE WHEN live THEN encode(found_value, 'escape') ELSE '0' END;
            IF digits !~ '^-?[0-9]{1,19}$' THEN
                RAISE EXCEPTION 'not a number' USING ERRCODE = 'invalid_text_representation';
            END IF;
            result := digits::numeric + delta;
            IF result NOT BETWEEN -9223372036854775808 AND 9223372036854775807 THEN
                RAISE EXCEPTION 'too large a number' USING ERRCODE = 'invalid_text_representation';
            END IF;
            UPDATE key_values v SET value = convert_to(result::text, 'UTF8'),
                expires_at = CASE WHEN live THEN v.expires_at END
            WHERE v.tenant_id = tenant AND v.key = wanted RETURNING v.size INTO after;
            EXIT;
        END IF;
        before := 0;
        result := delta;
        INSERT INTO key_values AS v (tenant_id, key, value)
        VALUES (tenant, wanted, convert_to(delta::text, 'UTF8')) ON CONFLICT DO NOTHING RETURNING v.size INTO after;
        EXIT WHEN FOUND;
    END LOOP;
    PERFORM pleat_charge(tenant, after - before, most);
    RETURN result::bigint;
END
$$;

-- `above`: the last key of the page before; U+10FFFF is in no key.
CREATE FUNCTION pleat_keys(tenant uuid, prefix text, above text, most integer) RETURNS SETOF text LANGUAGE plpgsql AS $$
BEGIN
    PERFORM set_config('app.tenant', tenant::text, true);
    RETURN QUERY
        SELECT v.key::text FROM key_values v
        WHERE v.tenant_id = tenant AND v.key >= prefix AND v.key < prefix || chr(1114111)
            AND (above IS NULL OR v.key > above) AND (v.expires_at IS NULL OR v.expires_at > now())
        ORDER BY v.key
        LIMIT most;
END
$$;

REVOKE EXECUTE ON FUNCTION pleat_value, pleat_charge, pleat_set_value, pleat_delete_value, pleat_increment, pleat_keys
    FROM PUBLIC;
GRANT EXECUTE ON FUNCTION pleat_value, pleat_charge, pleat_set_value, pleat_delete_value, pleat_increment, pleat_keys
    TO pleat_app;
