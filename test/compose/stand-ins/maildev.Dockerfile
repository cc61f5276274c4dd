ARG NODE_IMAGE
FROM ${NODE_IMAGE}
RUN npm install --global maildev@2.2.1
USER node
ENTRYPOINT ["maildev"]
