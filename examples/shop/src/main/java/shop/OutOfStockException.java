package shop;

/** There are not as many as ordered. */
class OutOfStockException extends RuntimeException {
  private static final long serialVersionUID = 1L;
}
