export { writeRetrievalError as writeError } from '../errors/retrieval-error.ts'
