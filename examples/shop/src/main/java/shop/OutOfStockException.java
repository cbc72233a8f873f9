package shop;

/** The stock is smaller than the order. */
class OutOfStockException extends RuntimeException {
  private static final long serialVersionUID = 1L;
}
