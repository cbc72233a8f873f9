package shop;

import io.mortise.FencingToken;
import io.mortise.spring.LockContext;
import io.mortise.spring.Locked;
import io.mortise.sql.FencedUpdate;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.jdbc.core.ConnectionCallback;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.stereotype.Service;
import org.springframework.transaction.annotation.Transactional;

/** Sells, one order per product at a time. */
@Service
public class Checkout {
  private final JdbcTemplate jdbc;
  private final String instance;

  Checkout(JdbcTemplate jdbc, @Value("${shop.instance}") String instance) {
    this.jdbc = jdbc;
    this.instance = instance;
  }

  /**
   * Sells a product, and gives the number of the order. The lock is taken before the transaction
   * begins, and released after it has committed.
   *
   * <p>An instance that was paused for longer than its lease may still come here with an old token.
   * The row has then seen a later one, {@code StaleTokenException} is thrown, and nothing is sold.
   *
   * @throws OutOfStockException if there are not as many
   */
  @Transactional
  @Locked(value = "product/#{#product}", waitFor = "10s")
  public long order(long product, int quantity) {
    FencingToken token = LockContext.current().fencingToken();
    // Present the token before reading: then no earlier holder can change the rows read below.
    write(FencedUpdate.of("product").where("id", product), token);
    int inStock =
        jdbc.queryForObject("SELECT in_stock FROM product WHERE id = ?", Integer.class, product);
    if (inStock < quantity) {
      throw new OutOfStockException();
    }
    write(
        FencedUpdate.of("product").set("in_stock", inStock - quantity).where("id", product), token);
    return jdbc.queryForObject(
        "INSERT INTO purchase (product, quantity, instance) VALUES (?, ?, ?) RETURNING id",
        Long.class,
        product,
        quantity,
        instance);
  }

  private void write(FencedUpdate update, FencingToken token) {
    ConnectionCallback<Boolean> execution = connection -> update.execute(connection, token);
    if (!Boolean.TRUE.equals(jdbc.execute(execution))) {
      throw new OutOfStockException();
    }
  }
}
