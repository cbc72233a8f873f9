package shop;

import io.mortise.LockTimeoutException;
import java.util.Map;
import org.springframework.http.HttpStatus;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;

/** The shop over HTTP. */
@RestController
class Orders {
  private final Checkout checkout;
  private final Partner partner;
  private final JdbcTemplate jdbc;

  Orders(Checkout checkout, Partner partner, JdbcTemplate jdbc) {
    this.checkout = checkout;
    this.partner = partner;
    this.jdbc = jdbc;
  }

  @PostMapping("/orders")
  Map<String, Long> order(
      @RequestParam("product") long product,
      @RequestParam(name = "quantity", defaultValue = "1") int quantity)
      throws InterruptedException {
    long order = checkout.order(product, quantity);
    partner.deliver(order);
    return Map.of("order", order);
  }

  @GetMapping("/summary")
  Map<String, Object> summary() {
    return jdbc.queryForMap("SELECT sold, kept_by FROM summary WHERE id = 1");
  }

  @ExceptionHandler(OutOfStockException.class)
  @ResponseStatus(HttpStatus.CONFLICT)
  void outOfStock() {}

  @ExceptionHandler(LockTimeoutException.class)
  @ResponseStatus(HttpStatus.SERVICE_UNAVAILABLE)
  void busy() {}
}
