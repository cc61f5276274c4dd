// Loaded before Jest's processes (node --import): a worker of Jest whose run was interrupted would live on, since Temporal
// workers and sockets of its test keep it alive. A listener for the channel's end would keep every worker alive.
const run = process.ppid;
if (process.channel) setInterval(() => process.ppid !== run && process.exit(1), 500).unref();
