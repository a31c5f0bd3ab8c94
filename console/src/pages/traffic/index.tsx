import './traffic.css'
import './request.css'
import './panels.css'
import './json.css'
import { useLocation } from 'preact-iso'
import { RequestDetail } from './detail.tsx'
import { TrafficList } from './list.tsx'

/** Traffic page: recent requests, or one request with `?request=ID`. */
export default function Traffic() {
  const { query } = useLocation()
  const id = query['request']
  return id === undefined || id === '' ? <TrafficList /> : <RequestDetail key={id} id={id} />
}
