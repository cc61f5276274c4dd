FROM meskot-stand-in
RUN apt-get update && apt-get install -y --no-install-recommends caddy && apt-get clean
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
