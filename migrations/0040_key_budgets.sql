-- What a key may use of CPU time and storage, within what its tenant may.
ALTER TABLE api_keys
    ADD COLUMN cpu_ms_per_minute integer,
    ADD COLUMN cpu_ms_per_day integer,
    ADD COLUMN stored_bytes_per_day bigint;
