import { WebSocketServer } from 'ws'

const SESSION = '{"type":"realtime","id":"sess_1","model":"upstream-model"}'
const AT = '"response_id":"resp_1","item_id":"item_1","output_index":0,"content_index":0'
const ITEM = '{"id":"item_1","type":"message","role":"assistant","status":"in_progress","content":[]}'
const BEGIN = [
  '{"type":"response.created","event_id":"e1","response":{"id":"resp_1","status":"in_progress","output":[]}}',
  `{"type":"response.output_item.added","event_id":"e2","response_id":"resp_1","output_index":0,"item":${ITEM}}`,
  `{"type":"response.content_part.added","event_id":"e3",${AT},"part":{"type":"audio","transcript":""}}`,
]

const AUDIO = '"audio":"'

/* Upstream for realtime sessions that sends all audio back. */

const sockets = new WebSocketServer({
  host: '127.0.0.1',
  port: Number(process.argv[2]),
  perMessageDeflate: false,
})
sockets.on('connection', socket => {
  socket.on('error', () => socket.terminate())
  socket.send(`{"type":"session.created","event_id":"e0","session":${SESSION}}`)
  let begun = false
  socket.on('message', (data: Buffer) => {
    const text = data.toString('latin1')
    const at = text.indexOf(AUDIO)
    if (at < 0) {
      socket.send(`{"type":"session.updated","event_id":"e0","session":${SESSION}}`)
      return
    }
    if (!begun) for (const event of BEGIN) socket.send(event)
    begun = true
    const delta = text.slice(at + AUDIO.length, text.indexOf('"', at + AUDIO.length))
    socket.send(`{"type":"response.output_audio.delta","event_id":"e",${AT},"delta":"${delta}"}`)
  })
})
