-- Whether a withdrawal's provider has ever said that it paid, though nothing could be booked by that word: its later no
-- gives nothing back, and nothing is sent again.
ALTER TABLE withdrawal ADD COLUMN paid_said_at timestamptz;

-- The few that are open, each by its own timeline.
UPDATE withdrawal w SET paid_said_at = (
  SELECT min(l.at) FROM withdrawal_timeline l WHERE l.withdrawal_id = w.id AND l.detail ->> 'outcome' = 'succeeded')
WHERE w.status = 'PENDING';

-- What had failed, was called paid, and was so by an operator's word is no contradiction any more.
UPDATE withdrawal SET contradiction_ended_at = completed_at
WHERE status IN ('SUCCESS', 'REVERSED') AND contradicted_at IS NOT NULL AND contradiction_ended_at IS NULL;
