-- What each subject of an issuer of tokens may use, within what its tenant may.
ALTER TABLE jwt_issuers
    ADD COLUMN requests_per_minute integer,
    ADD COLUMN concurrent_tasks integer,
    ADD COLUMN cpu_ms_per_minute integer,
    ADD COLUMN cpu_ms_per_day integer,
    ADD COLUMN stored_bytes_per_day bigint;
