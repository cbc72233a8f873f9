package io.mortise.spring.boot;

import jakarta.servlet.http.HttpServletRequest;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.security.access.hierarchicalroles.RoleHierarchy;
import org.springframework.security.config.core.GrantedAuthorityDefaults;
import org.springframework.security.core.Authentication;

/**
 * Roles that a user has by the application's {@code RoleHierarchy}: {@code isUserInRole} of Spring
 * Security does not use it. Loaded only with Spring Security.
 */
final class ConsoleRoles {
  private static final String USUAL_PREFIX = "ROLE_";

  private final ObjectProvider<RoleHierarchy> hierarchies;
  private final ObjectProvider<GrantedAuthorityDefaults> defaults;

  ConsoleRoles(BeanFactory beans) {
    this.hierarchies = beans.getBeanProvider(RoleHierarchy.class);
    this.defaults = beans.getBeanProvider(GrantedAuthorityDefaults.class);
  }

  /** Whether a role implies this one. */
  boolean has(HttpServletRequest request, String role) {
    RoleHierarchy hierarchy = hierarchies.getIfUnique();
    if (hierarchy == null || !(request.getUserPrincipal() instanceof Authentication user)) {
      return false;
    }
    GrantedAuthorityDefaults set = defaults.getIfUnique();
    String prefix = set == null ? USUAL_PREFIX : set.getRolePrefix();
    String authority = role.startsWith(prefix) ? role : prefix + role;
    return hierarchy.getReachableGrantedAuthorities(user.getAuthorities()).stream()
        .anyMatch(each -> authority.equals(each.getAuthority()));
  }
}
