-- Keeps merchant.kyc_status equal to the status of the live application.
CREATE OR REPLACE FUNCTION sync_merchant_kyc_status() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE merchant SET kyc_status = NEW.status WHERE id = NEW.merchant_id AND kyc_status <> NEW.status;
  RETURN NULL;
END $$;
CREATE OR REPLACE TRIGGER kyc_application_status AFTER INSERT OR UPDATE OF status ON kyc_application
  FOR EACH ROW WHEN (NEW.environment = 'live') EXECUTE FUNCTION sync_merchant_kyc_status();

-- The tier of a merchant in live.
CREATE OR REPLACE FUNCTION effective_kyc_tier(p_merchant_id text) RETURNS smallint LANGUAGE sql STABLE AS $$
  SELECT coalesce(
    (SELECT tier FROM kyc_application WHERE merchant_id = p_merchant_id AND environment = 'live'), 0::smallint)
$$;

-- Whether the merchant's tier includes a channel. Tiers do not apply in the sandbox.
CREATE OR REPLACE FUNCTION kyc_tier_allows(p_merchant_id text, p_environment text, p_channel text)
RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT CASE WHEN p_environment = 'sandbox' THEN true ELSE
    (SELECT channels IS NULL OR p_channel = ANY (channels) FROM kyc_tier
     WHERE tier = effective_kyc_tier(p_merchant_id)) END
$$;
