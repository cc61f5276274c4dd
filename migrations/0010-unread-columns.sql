-- Written and never read. A bulk resend's deliveries are webhook_resend_item's.
ALTER TABLE webhook_delivery DROP COLUMN resend_job_id;
ALTER TABLE webhook_subscription DROP COLUMN previous_secret_hint;
