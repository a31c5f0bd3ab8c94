export { writeRetrievalError as writeError } from '../retrieval-error.ts'
