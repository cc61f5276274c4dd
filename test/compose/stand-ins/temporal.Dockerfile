# The programs are built from Temporal's own modules, in bin/; schema/ and entrypoint.sh are of the same version.
FROM meskot-stand-in AS server
RUN useradd --uid 1000 temporal && mkdir -p /etc/temporal
COPY bin/temporal-server /usr/local/bin/
COPY --chmod=755 entrypoint.sh /etc/temporal/entrypoint.sh
WORKDIR /etc/temporal
USER temporal
CMD ["/etc/temporal/entrypoint.sh"]

FROM server AS admin-tools
COPY bin/temporal-sql-tool /usr/local/bin/
COPY schema /etc/temporal/schema
CMD ["sleep", "infinity"]

FROM server AS ui
COPY bin/ui-server /usr/local/bin/
COPY --chmod=755 ui-entrypoint.sh /usr/local/bin/
CMD ["ui-entrypoint.sh"]
