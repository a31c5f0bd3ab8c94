/* What is used of the package, under its name: all of it would be an HTTP cache, mocks, and `fetch` with its streams. */
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js')

Dispatcher.prototype.request = require('undici/lib/api/api-request.js')

module.exports = {
  Agent: require('undici/lib/dispatcher/agent.js'),
  Client: require('undici/lib/dispatcher/client.js'),
  Pool: require('undici/lib/dispatcher/pool.js'),
  buildConnector: require('undici/lib/core/connect.js'),
}
