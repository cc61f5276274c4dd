/** Leads to the sign-in page, and from there back here. */
export const onSignedOut = (): void => {
  location.assign(`/sign-in?next=${encodeURIComponent(location.pathname + location.search)}`);
};
